// The demo page: one tab for each task, each over a model that lies beside the page or that the visitor names.
import { startAnswer } from './answer.js';
import { startClassify } from './classify.js';
import { find } from './dom.js';
import { startEntities } from './entities.js';
import { keepForOffline } from './keep_for_offline.js';
import { startTabs } from './tabs.js';
import { startZeroShot } from './zero_shot.js';

const panel = (id: string) => find(document, `#${id}`, HTMLElement);

startClassify(panel('classify'));
startZeroShot(panel('zero-shot'));
startAnswer(panel('answer'));
startEntities(panel('entities'));
startTabs(find(document, '[role=tablist]', HTMLElement));
void keepForOffline(find(document, '.kept', HTMLElement));
