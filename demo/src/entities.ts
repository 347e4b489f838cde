// The entities tab: names marked in the text.
import { type EntityGroup, pipeline } from '../peruse/peruse.js';
import { taggerModels } from './curated.js';
import { find, make } from './dom.js';
import { reports } from './examples.js';
import { percent } from './format.js';
import { hidingStep } from './inside/inside.js';
import { markedText } from './marked_text.js';
import type { BundledModel } from './model_picker.js';
import type { Proof } from './proof.js';
import { summary, type Tab, TaskPanel } from './task_panel.js';

export const taggerModel: BundledModel = { name: 'Names, ConvBERT, 2.7 MB', folder: 'peruse-tagger-convbert-tiny' };
const kOptions = { aggregation_strategy: 'average', stride: 16 } as const;

/** The usual names of types, in words. A label that is not among them is shown as it is. */
const kNames: Record<string, string> = { PER: 'person', ORG: 'organisation', LOC: 'place', MISC: 'other' };
const kDetails: Record<string, string> = {
  DATE: 'date',
  AMOUNT: 'amount',
  EMAIL: 'e-mail address',
  PHONE: 'phone number',
  LINK: 'link',
  CARD: 'card number',
  ID: 'identifier',
};
const kPlurals: Record<string, string> = {
  person: 'persons',
  organisation: 'organisations',
  place: 'places',
  date: 'dates',
  amount: 'amounts',
  'e-mail address': 'e-mail addresses',
  'phone number': 'phone numbers',
  link: 'links',
  'card number': 'card numbers',
  identifier: 'identifiers',
};
const kHues = 6; // Colours in panel.css: the usual four, and two for whatever else a model may tag.

export function startEntities(panel: HTMLElement, proof: Proof): Tab {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  const found = find(panel, '.found', HTMLDetailsElement);
  const list = find(found, 'ol', HTMLElement);
  let asked = '';

  text.value = reports[0]?.text ?? '';
  const task = new TaskPanel(panel, proof, {
    bundled: taggerModel,
    curated: taggerModels,
    load: (source, options) => pipeline('token-classification', source, options),
    ask: (tag, signal) => {
      asked = text.value;
      return tag(asked, { ...kOptions, signal });
    },
    show: (entities) => {
      const hues = hueOf(entities);
      quote.replaceChildren(...markedText(asked, entities, (words, entity) => chip(words, entity, hues)));
      list.replaceChildren(...entities.map((entity) => row(asked, entity)));
      found.hidden = entities.length === 0;
      const kinds = [...count(entities)].map(([kind, number]) => `${number} ${number > 1 ? (kPlurals[kind] ?? kind) : kind}`).join(', ');
      return entities.length > 0 ? summary(String(entities.length), `found: ${kinds}`) : ['Nothing was found in this text.'];
    },
    inside: () => ({ input: asked }),
    lastStep: async (tag) =>
      hidingStep(
        'Every token\u2019s numbers become one score a tag, and neighbours of one tag become a name; hide words and see them move.',
        asked,
        async (words, heads) => {
          const found = await tag(words, { ...kOptions, ...heads });
          return found.map(({ start, end, entity_group }) => `${words.slice(start, end)} (${entity_group})`).join(', ') || 'no names';
        },
      ),
    code: () => ({ task: 'token-classification', name: 'tag', args: [text.value, kOptions] }),
  });
  task.offer(
    reports,
    ({ name }) => name,
    (report) => {
      text.value = report.text;
    },
  );
  return task;
}

function kindOf({ entity_group: label = '' }: EntityGroup): string {
  const type = label.toUpperCase();
  return kNames[type] ?? kDetails[type] ?? label;
}

function count(entities: readonly EntityGroup[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entity of entities) counts.set(kindOf(entity), (counts.get(kindOf(entity)) ?? 0) + 1);
  return counts;
}

/** A number for every kind: the usual four always have the same. */
function hueOf(entities: readonly EntityGroup[]): Map<string, number> {
  const kinds = [...new Set([...Object.values(kNames), ...entities.map(kindOf)])];
  return new Map(kinds.map((kind, index) => [kind, index % kHues]));
}

function chip(words: string, entity: EntityGroup, hues: ReadonlyMap<string, number>): Node {
  const kind = kindOf(entity);
  const mark = make('mark', `entity hue-${hues.get(kind) ?? 0}`, words, make('span', 'kind', kind));
  mark.title = `${kind}, ${percent(entity.score)}`;
  return mark;
}

function row(text: string, entity: EntityGroup): HTMLElement {
  return make(
    'li',
    '',
    make('span', 'label', text.slice(entity.start, entity.end)),
    make('span', 'kind', kindOf(entity)),
    make('span', 'score', percent(entity.score)),
  );
}
