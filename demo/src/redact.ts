// The redaction tab: replaces private details in a message to a chatbot, and restores them in its answer. The model finds names; patterns
// find details with a fixed form.
import {
  createRedactor,
  type Pipeline,
  pipeline,
  type RedactedEntity,
  type Redaction,
  type RedactOptions,
  type UnreadRange,
} from '../peruse/peruse.js';
import { kMultilingualTagger, kTagger, recallFor } from './bundled.js';
import { Code } from './code.js';
import { copyOnClick } from './copy.js';
import { taggerModels } from './curated.js';
import { find, make, makeButton, withDirection } from './dom.js';
import { messages } from './examples.js';
import { percent } from './format.js';
import { hidingStep } from './inside/inside.js';
import { markedText, type Span } from './marked_text.js';
import type { Proof } from './proof.js';
import { RoundTrip } from './round_trip.js';
import { type Inspectable, summary, TaskPanel } from './task_panel.js';

const kKinds: Record<string, string> = { PER: 'person', ORG: 'organisation', LOC: 'place', ID: 'identifier' };
const kHues: Record<string, number> = { PER: 0, ORG: 1, LOC: 2 };
const kOtherHue = 4;

/** Details with lower scores are shown to the visitor for a decision. */
const kSure = 0.6;

export function startRedact(panel: HTMLElement, proof: Proof): Inspectable {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const quote = find(panel, '.redacted', HTMLElement);
  const list = find(panel, '.vault ol', HTMLElement);
  const empty = find(panel, '.vault .empty', HTMLElement);
  const roundTrip = new RoundTrip(find(panel, '.back', HTMLElement), ({ placeholder, words, type }) => chip(type, words, placeholder));
  /** Words that the visitor decided not to replace, by type. */
  const kept = new Map<string, Set<string>>();
  /** A token stays only if the model gives "not private" at least this. Higher values hide ordinary words, too (docs/tasks/redact.md). */
  const recalls = new WeakMap<Pipeline<'redact'>, number>();
  const optionsFor = (redactor: Pipeline<'redact'>) => ({ recall: recalls.get(redactor)!, patterns: true });
  let asked = '';
  let last: Redaction | undefined;

  const rules = (): NonNullable<RedactOptions['rules']> =>
    Object.fromEntries([...kept].map(([type, words]) => [type, (each: string) => !words.has(each)]));
  const rulesInCode = () =>
    kept.size === 0
      ? undefined
      : Object.fromEntries([...kept].map(([type, words]) => [type, new Code(`(text) => !${JSON.stringify([...words])}.includes(text)`)]));
  const keep = ({ type, text: words }: RedactedEntity) => {
    kept.set(type, (kept.get(type) ?? new Set()).add(words));
    void task.run();
  };
  const hideAgain = () => {
    kept.clear();
    void task.run();
  };
  const row = (entity: RedactedEntity) => {
    const { text: words, placeholder, type, score } = entity;
    const item = make(
      'li',
      '',
      withDirection(make('span', 'label', ...breakable(words))),
      make('span', 'kind', placeholder, make('span', 'kind-word', ` ${kindOf(type)}`)),
    );
    item.append(make('span', 'score', score === 1 ? 'a rule' : percent(score)));
    if (isUnsure(entity)) item.append(makeButton(['Not private'], () => keep(entity)));
    return item;
  };
  const showText = ({ entities, unread, mapping }: Redaction) => {
    const isFree = ({ start, end }: Span) => entities.every((entity) => entity.end <= start || end <= entity.start);
    const spans: (RedactedEntity | UnreadRange)[] = [...entities, ...unread.filter(isFree)].sort((a, b) => a.start - b.start);
    quote.replaceChildren(
      ...markedText(asked, spans, (words, span) =>
        'reason' in span ? unreadMark(words) : chip(span.type, span.placeholder, kindOf(span.type), span),
      ),
    );
    roundTrip.use(entities, mapping);
  };
  const keepInVault = (entities: readonly RedactedEntity[]) => {
    const once = [...new Map(entities.map((entity) => [entity.placeholder, entity])).values()];
    list.replaceChildren(...once.map(row));
    empty.hidden = once.length > 0;
    return once;
  };
  const show = (redaction: Redaction) => {
    last = redaction;
    const { entities } = redaction;
    showText(redaction);
    const once = keepInVault(entities);
    if (kept.size > 0) list.append(make('li', '', makeButton(['Hide again what you let through'], hideAgain)));
    const unsure = once.filter(isUnsure).length;
    const warning = unreadWarning(asked, redaction);
    if (entities.length === 0) return warning === '' ? ['No private details were found.'] : [warning];
    const details = entities.length === 1 ? 'private detail is' : 'private details are';
    const doubt = unsure === 0 ? '' : ` ${unsure === 1 ? 'One is' : `${unsure} are`} uncertain: please decide in the vault.`;
    return summary(String(entities.length), `${details} replaced.${doubt}${warning && ` ${warning}`}`);
  };

  const fill = (message: (typeof messages)[number]) => {
    text.value = message.text;
    kept.clear();
    roundTrip.offer(message.answer);
  };
  if (messages[0]) fill(messages[0]);
  text.addEventListener('input', () => {
    kept.clear();
    roundTrip.forgetOffer();
  });
  const task: TaskPanel<Pipeline<'redact'>, Redaction> = new TaskPanel(panel, proof, {
    bundled: [kTagger, kMultilingualTagger],
    curated: taggerModels,
    load: async (source, options) => {
      const redactor = await pipeline('redact', source, options);
      recalls.set(redactor, recallFor(source));
      return redactor;
    },
    ask: (redactor, signal) => {
      asked = text.value;
      return redactor(asked, { ...optionsFor(redactor), rules: rules(), signal });
    },
    askAbout: (redactor, words, signal) => redactor(words, { ...optionsFor(redactor), signal }),
    show,
    clear: () => void keepInVault([]),
    early: async () => {
      const message = text.value;
      const redaction = await createRedactor({ patterns: true })(message);
      return () => {
        asked = message;
        showText(redaction);
        keepInVault(redaction.entities);
        return summary(String(redaction.entities.length), 'by rules; names follow\u2026');
      };
    },
    inside: () => ({ input: asked }),
    lastStep: async (redactor) =>
      hidingStep(
        'Every token\u2019s numbers become one score a tag, and neighbours of one tag become a name; hide words and see them move.',
        asked,
        async (words, heads) => {
          const { entities } = await redactor(words, { ...optionsFor(redactor), ...heads });
          return entities.map(({ text: name, type }) => `${name} (${type})`).join(', ') || 'no names';
        },
      ),
    linkValues: () => ({ text: last?.text ?? '' }), // Not the message itself, because a link may be sent to others.
    code: (source) => ({
      task: 'redact',
      name: 'redact',
      args: [text.value, { recall: recallFor(source), patterns: true, rules: rulesInCode() }],
    }),
  });
  copyOnClick(find(panel, '.copy-text', HTMLButtonElement), () => last?.text ?? '');
  task.offer(messages, ({ name }) => name, fill);
  return task;
}

/** Warns of letters that the model does not know, so that nobody takes the message for clean. */
function unreadWarning(text: string, { unread }: Redaction): string {
  const letters = unread.reduce(
    (sum, { start, end }) => sum + (text.slice(start, end).match(/[\p{L}\p{N}\p{Surrogate}]/gu)?.length ?? 0),
    0,
  );
  if (letters === 0) return '';
  return `${letters} ${letters === 1 ? 'letter is' : 'letters are'} in a script that this model does not read.`;
}

function unreadMark(words: string): Node {
  const mark = make('mark', 'unread', words);
  mark.title = 'not read';
  return mark;
}

/** Lets an address break after its signs only. */
function breakable(words: string): (Node | string)[] {
  return words.split(/(?<=[@/._-])/).flatMap((part, index) => (index === 0 ? [part] : [make('wbr', ''), part]));
}

function isUnsure({ score }: RedactedEntity): boolean {
  return score < kSure;
}

function kindOf(type: string): string {
  return kKinds[type.toUpperCase()] ?? type.toLowerCase().replaceAll('_', ' ');
}

function chip(type: string, words: string, title: string, entity?: RedactedEntity): Node {
  const isInDoubt = entity !== undefined && isUnsure(entity);
  const kind = `${entity ? 'ink ' : ''}hue-${kHues[type.toUpperCase()] ?? kOtherHue}`;
  const mark = make('mark', `entity ${kind}${isInDoubt ? ' unsure' : ''}`, words);
  mark.title = isInDoubt ? `${title}, uncertain` : title;
  return withDirection(mark); // Isolated from the text around: a placeholder's brackets and number keep their order.
}
