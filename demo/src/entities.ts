// The entities tab: names marked in the text.
import { pipeline, type TokenEntity } from '../peruse/dist/index.js';
import { find, make } from './dom.js';
import { reports } from './examples.js';
import { percent } from './format.js';
import { markedText } from './marked_text.js';
import { summary, TaskPanel } from './task_panel.js';

/** The usual names of types, in words. A label that is not among them is shown as it is. */
const kWords: Record<string, string> = { PER: 'person', ORG: 'organisation', LOC: 'place', MISC: 'other' };
const kPlurals: Record<string, string> = { person: 'persons', organisation: 'organisations', place: 'places' };
const kHues = 6;  // Colours in panel.css: the usual four, and two for whatever else a model may tag.

export function startEntities(panel: HTMLElement): void {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  const found = find(panel, '.found', HTMLDetailsElement);
  const list = find(found, 'ol', HTMLElement);
  let asked = '';

  const task = new TaskPanel(panel, [{ name: 'Entities, ConvBERT, 2.7 MB', folder: 'peruse-tagger-convbert-tiny' }], {
    load: (source, options) => pipeline('token-classification', source, options),
    ask: (tag, signal) => {
      asked = text.value;
      return tag(asked, { aggregation_strategy: 'average', stride: 16, signal });
    },
    show: (entities) => {
      const hues = hueOf(entities);
      quote.replaceChildren(...markedText(asked, entities, (words, entity) => chip(words, entity, hues)));
      list.replaceChildren(...entities.map((entity) => row(asked, entity)));
      found.hidden = entities.length === 0;
      const kinds = [...count(entities)].map(([kind, number]) => `${number} ${number > 1 ? kPlurals[kind] ?? kind : kind}`).join(', ');
      return entities.length > 0 ? summary(String(entities.length), `${entities.length === 1 ? 'name' : 'names'}: ${kinds}`) : ['No names were found in this text.'];
    },
    inside: () => asked,
  });
  task.offer(reports, (report) => {
    text.value = report;
  });
}

function kindOf({ entity_group: label = '' }: TokenEntity): string {
  return kWords[label.toUpperCase()] ?? label;
}

function count(entities: readonly TokenEntity[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entity of entities) counts.set(kindOf(entity), (counts.get(kindOf(entity)) ?? 0) + 1);
  return counts;
}

/** A number for every kind: the usual four always have the same. */
function hueOf(entities: readonly TokenEntity[]): Map<string, number> {
  const kinds = [...new Set([...Object.values(kWords), ...entities.map(kindOf)])];
  return new Map(kinds.map((kind, index) => [kind, index % kHues]));
}

function chip(words: string, entity: TokenEntity, hues: ReadonlyMap<string, number>): Node {
  const kind = kindOf(entity);
  const mark = make('mark', `entity hue-${hues.get(kind) ?? 0}`, words, make('span', 'kind', kind));
  mark.title = `${kind}, ${percent(entity.score)}`;
  return mark;
}

function row(text: string, entity: TokenEntity): HTMLElement {
  return make('li', '', make('span', 'label', text.slice(entity.start, entity.end)), make('span', 'kind', kindOf(entity)), make('span', 'score', percent(entity.score)));
}
