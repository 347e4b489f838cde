import { playArrival } from './arrival.js';
import { startAsk } from './ask.js';
import { find } from './dom.js';
import { InsidePlace } from './inside/inside_place.js';
import { keepForOffline } from './keep_for_offline.js';
import { Proof } from './proof.js';
import { startRedact } from './redact.js';
import { startSort } from './sort.js';
import { startTabs } from './tabs.js';
import type { Tab } from './task_panel.js';
import { startTeach } from './teach.js';

const panel = (id: string) => find(document, `#${id}`, HTMLElement);

/** Lets the browser paint and hear taps between two parts of the start, which together hold a phone for a fifth of a second. */
const breath = () => new Promise((done) => setTimeout(done));

const proof = new Proof(find(document, '.proof', HTMLElement));
await breath();
const redact = startRedact(panel('redact'), proof);
await breath();
const sort = startSort(panel('sort'), proof);
await breath();
const inspectable = {
  redact: { name: 'the redaction', tab: redact },
  sort: { name: 'the sorting', tab: sort },
  ask: { name: 'the answer', tab: startAsk(panel('ask'), proof) },
};
await breath();
const giveWayTo = (id: string) => {
  for (const [each, { tab }] of Object.entries(inspectable)) if (each !== id) tab.giveWay();
};
const inside = new InsidePlace(panel('inside'), inspectable);
await breath();
const tabs = new Map<string, Tab>([
  ...Object.entries(inspectable).map(([id, { tab }]) => [id, tab] as const),
  ['teach', startTeach(panel('teach'), proof, () => giveWayTo('teach'))],
  ['inside', inside],
]);
globalThis.peruseHasStarted = true;
startTabs(find(document, '[role=tablist]', HTMLElement), (id) => {
  if (id in inspectable) giveWayTo(id);
  tabs.get(id)?.open();
  inside.shown(id);
});
find(document, '.lead-on', HTMLElement).addEventListener('click', () => find(document, '#tab-teach', HTMLElement).click());
void playArrival(panel('redact'), proof.firstAnswer);
void keepForOffline(find(document, '.kept', HTMLElement), proof);
