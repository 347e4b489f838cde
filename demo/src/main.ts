// The demo page: two tabs, each over one of the models that lie beside the page.
import { startAnswer } from './answer.js';
import { startClassify } from './classify.js';
import { find } from './dom.js';
import { startTabs } from './tabs.js';

const models = new URL('../models/', import.meta.url);

startClassify(find(document, '#classify', HTMLElement), new URL('convbert-sentiment/', models).href);
startAnswer(find(document, '#answer', HTMLElement), new URL('deberta-reader/', models).href);
startTabs(find(document, '[role=tablist]', HTMLElement));
