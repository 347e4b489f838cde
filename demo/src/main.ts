// The demo page: two tabs, each over one of the models that lie beside the page.
import { startAnswer } from './answer.js';
import { startClassify } from './classify.js';
import { find } from './dom.js';
import { startTabs } from './tabs.js';

const models = new URL('../models/', import.meta.url);

startClassify(find(document, '#classify', HTMLElement), new URL('peruse-sentiment-convbert-tiny/', models).href);
startAnswer(find(document, '#answer', HTMLElement), new URL('peruse-reader-deberta-tiny/', models).href);
startTabs(find(document, '[role=tablist]', HTMLElement));

// Works without a connection from the next visit on. Where there are no service workers (plain http) it simply does not.
void navigator.serviceWorker?.register('./offline.js').catch(() => {});
