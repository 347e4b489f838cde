// The demo page: one tab per task, each with a model next to the page or from the visitor.
import { startAnswer } from './answer.js';
import { startClassify } from './classify.js';
import { find } from './dom.js';
import { startEntities } from './entities.js';
import { startFind } from './find_passage.js';
import { offerToKeepAll } from './keep_for_offline.js';
import { Proof } from './proof.js';
import { startRedact } from './redact.js';
import { startTabs } from './tabs.js';
import { startTeach } from './teach.js';
import { startZeroShot } from './zero_shot.js';

const starts = {
  redact: startRedact,
  'zero-shot': startZeroShot,
  find: startFind,
  entities: startEntities,
  classify: startClassify,
  answer: startAnswer,
  teach: startTeach,
};

const proof = new Proof(find(document, '.proof', HTMLElement));
const panels = new Map(Object.entries(starts).map(([id, start]) => [id, start(find(document, `#${id}`, HTMLElement), proof)]));
startTabs(find(document, '[role=tablist]', HTMLElement), (id) => panels.get(id)?.open());
void offerToKeepAll(find(document, '.keep', HTMLButtonElement), find(document, '.kept', HTMLElement));
