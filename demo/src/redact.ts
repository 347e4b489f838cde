// The redaction tab: a message without its private details. The model finds names, patterns find what has a form of its own.
import { pipeline, type RedactedEntity } from '../peruse/peruse.js';
import { copyOnClick } from './copy.js';
import { taggerModels } from './curated.js';
import { find, make } from './dom.js';
import { taggerModel } from './entities.js';
import { messages } from './examples.js';
import { hidingStep } from './inside/inside.js';
import { markedText, type Span } from './marked_text.js';
import type { Proof } from './proof.js';
import { summary, type Tab, TaskPanel } from './task_panel.js';

const kKinds: Record<string, string> = { PER: 'PERSON', ORG: 'ORGANISATION', LOC: 'PLACE' };
const kHues: Record<string, number> = { PERSON: 0, ORGANISATION: 1, PLACE: 2 };
const kOtherHue = 4;

interface Redacted extends Span {
  readonly kind: string;
  /** The same for the same words: [PERSON_1]. */
  readonly placeholder: string;
}

/** A token stays only if the model gives "not private" at least 50 %. Higher values hide ordinary words next to details (docs/tasks/redact.md). */
const kOptions = { aggregation_strategy: 'average', recall: 0.5, patterns: true } as const;

export function startRedact(panel: HTMLElement, proof: Proof): Tab {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  const found = find(panel, '.found', HTMLDetailsElement);
  const list = find(found, 'ol', HTMLElement);
  let asked = '';
  let redacted = '';

  text.value = messages[0]?.text ?? '';
  const task = new TaskPanel(panel, proof, {
    bundled: taggerModel,
    curated: taggerModels,
    load: (source, options) => pipeline('redact', source, options),
    ask: (redactor, signal) => {
      asked = text.value;
      return redactor(asked, { ...kOptions, signal });
    },
    show: ({ entities }) => {
      const spans = numbered(asked, entities);
      quote.replaceChildren(...markedText(asked, spans, (_, { kind, placeholder }) => chip(kind, placeholder)));
      redacted = quote.textContent ?? '';
      list.replaceChildren(...rows(asked, spans));
      found.hidden = spans.length === 0;
      if (spans.length === 0) return ['No private details were found.'];
      const details = spans.length === 1 ? 'private detail is' : 'private details are';
      return summary(String(spans.length), `${details} replaced.`);
    },
    inside: () => ({ input: asked }),
    lastStep: async (redactor) =>
      hidingStep(
        'Every token\u2019s numbers become one score a tag, and neighbours of one tag become a name; hide words and see them move.',
        asked,
        async (words, heads) => {
          const { entities } = await redactor(words, { ...kOptions, ...heads });
          return entities.map(({ text: name, type }) => `${name} (${type})`).join(', ') || 'no names';
        },
      ),
    linkValues: () => ({ text: redacted }), // Not the message itself: a link is sent to others.
    code: () => ({ task: 'redact', name: 'redact', args: [text.value, kOptions] }),
  });
  copyOnClick(find(panel, '.copy-text', HTMLButtonElement), () => redacted);
  task.offer(
    messages,
    ({ name }) => name,
    (message) => {
      text.value = message.text;
    },
  );
  return task;
}

/** Names, places and details, each with a placeholder. */
function numbered(text: string, entities: readonly RedactedEntity[]): Redacted[] {
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();
  return entities
    .map(({ type, start, end }) => ({ kind: kKinds[type.toUpperCase()] ?? type.toUpperCase(), start, end }))
    .filter(({ kind }) => kind !== 'MISC')
    .map((span) => {
      const words = `${span.kind} ${text.slice(span.start, span.end)}`;
      if (!placeholders.has(words)) {
        counts.set(span.kind, (counts.get(span.kind) ?? 0) + 1);
        placeholders.set(words, `[${span.kind}_${counts.get(span.kind)}]`);
      }
      return { ...span, placeholder: placeholders.get(words) ?? '' };
    });
}

function chip(kind: string, placeholder: string): Node {
  return make('mark', `entity hue-${kHues[kind] ?? kOtherHue}`, placeholder);
}

/** Each placeholder once, with the words that it stands for. */
function rows(text: string, spans: readonly Redacted[]): HTMLElement[] {
  const words = new Map(spans.map(({ placeholder, start, end }) => [placeholder, text.slice(start, end)]));
  return [...words].map(([placeholder, stands]) => make('li', '', make('span', 'label', stands), make('span', 'kind', placeholder)));
}
