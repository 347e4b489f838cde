// The examples that teach() takes, and the plain form in which the engine takes them (core/train/teach_session.h).
import { capital, PeruseError, show } from '../errors.js';
import { nameOf } from '../tasks/call.js';

/** What can be taught. */
export type TeachTask = 'text-classification' | 'zero-shot-classification' | 'token-classification' | 'question-answering';

/** Tasks whose examples are texts with labels. A GLiClass, which reads the labels with the text, is taught as 'zero-shot-classification'. */
export function labelsTexts(task: TeachTask | PretrainTask): boolean {
  return task === 'text-classification' || task === 'zero-shot-classification';
}

/** What plain text teaches, in the engine's words. */
export type PretrainTask = 'masked-lm' | 'replaced-token-detection';

/** A text, or a pair of texts, and what it is. */
export interface TextExample {
  text: string;
  /** The second text, for models of pairs. */
  text_pair?: string;
  /**
   * A label; a list of labels, which may be empty, for multi-label; a number or a list of numbers for regression. With `labels`, or a
   * `problem_type` of classification, numbers are class ids: places in `labels`, else LABEL_0, LABEL_1, ...
   */
  label?: string | readonly string[] | number | readonly number[];
  /** In place of `label`: how probable each label is, in the order of `labels`. What another model says can be taught so. */
  probabilities?: readonly number[];
}

/** An entity by its position in a text: UTF-16 indices, the end behind its last character. */
export interface EntitySpan {
  start: number;
  end: number;
  /** Its kind, without B- and I-. */
  label: string;
}

/** A text and the entities in it. */
export interface EntitiesExample {
  text: string;
  /** May be empty. */
  entities: readonly EntitySpan[];
}

/** A question, a text, and where in it the answer is. */
export interface AnswerExample {
  question: string;
  context: string;
  /** UTF-16 indices of the context; null if it does not answer the question. */
  answer: { start: number; end: number } | null;
}

/** The example type of each task. */
export type TeachExample<T extends TeachTask = TeachTask> = T extends 'text-classification' | 'zero-shot-classification'
  ? TextExample
  : T extends 'token-classification'
    ? EntitiesExample
    : AnswerExample;

/** How the labels of texts are meant, in the words of config.json. */
export type ProblemType = 'single_label_classification' | 'multi_label_classification' | 'regression';

/** An example as it goes to the engine: plain data. */
export type PlainExample = Record<string, unknown>;

type Fields = Record<string, (value: unknown) => string | undefined>;

const aString = (value: unknown) => (typeof value === 'string' ? undefined : 'is no string');
const aStringIfAny = (value: unknown) => (value === undefined ? undefined : aString(value));
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const isListOf = (value: unknown, is: (item: unknown) => boolean) => Array.isArray(value) && value.every(is);
const isString = (value: unknown) => typeof value === 'string';
const isWhole = (value: string) => !/\p{Surrogate}/u.test(value);

function aLabel(value: unknown): string | undefined {
  if (value === undefined || isString(value) || isNumber(value) || isListOf(value, isString) || isListOf(value, isNumber)) return undefined;
  return 'is neither a label nor a list of labels nor a number';
}

/** Half a surrogate pair would reach the model's files as another character. */
function checkText(label: unknown, which: string): void {
  const broken = [label].flat().find((name) => typeof name === 'string' && !isWhole(name));
  if (broken !== undefined)
    throw new PeruseError('invalid_argument', `${which}: its label holds half a character: ${JSON.stringify(broken)}.`);
}

const numbersIfAny = (value: unknown) => (value === undefined || isListOf(value, isNumber) ? undefined : 'is no list of numbers');

function aSpan(value: unknown): string | undefined {
  const { start, end } = (value ?? {}) as { start?: unknown; end?: unknown };
  return Number.isInteger(start) && Number.isInteger(end) ? undefined : 'has no whole numbers start and end';
}

const aSpanOrNull = (value: unknown) => (value === null ? undefined : aSpan(value));

function entities(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'is no list';
  for (const entity of value as unknown[]) {
    const why = aSpan(entity);
    if (why !== undefined) return `holds an entity that ${why}`;
    if (!isString((entity as EntitySpan).label)) return 'holds an entity without a label';
  }
  return undefined;
}

const kFields: Record<TeachTask, Fields> = {
  'text-classification': { text: aString, text_pair: aStringIfAny, label: aLabel, probabilities: numbersIfAny },
  'zero-shot-classification': { text: aString, label: aLabel, probabilities: numbersIfAny },
  'token-classification': { text: aString, entities },
  'question-answering': { question: aString, context: aString, answer: aSpanOrNull },
};

/** The engine's names, where they are others. */
const kEngineNames: Record<string, string> = { text_pair: 'pair' };

/** Names of the fields that an example of the task may have. */
export function fieldsOf(task: TeachTask): string[] {
  return Object.keys(kFields[task]);
}

/** The examples as plain data, of the right types. `what`: 'example' or 'validation example'. Other fields are left out (notices.ts names them). */
export function plainExamples(task: TeachTask, given: unknown, what: string): PlainExample[] {
  if (!Array.isArray(given)) throw new PeruseError('invalid_argument', `The ${what}s must be a list, not ${nameOf(given)}.`);
  return Array.from(given as unknown[], (example, number) => plainExample(task, example, `${capital(what)} ${number}`));
}

function plainExample(task: TeachTask, example: unknown, which: string): PlainExample {
  const fields = kFields[task];
  if (typeof example !== 'object' || example === null || Array.isArray(example)) {
    throw new PeruseError('invalid_argument', `${which}: it is ${nameOf(example)}, not an object.`);
  }
  const plain: PlainExample = {};
  for (const [name, wrong] of Object.entries(fields)) {
    const value = (example as Record<string, unknown>)[name];
    const why = wrong(value);
    if (why !== undefined) throw new PeruseError('invalid_argument', `${which}: its ${name} ${why}: ${show(value)}.`);
    if (value !== undefined) plain[kEngineNames[name] ?? name] = copied(name, value);
  }
  checkText(plain.label, which);
  if ('label' in fields && plain.label === undefined && plain.probabilities === undefined) {
    throw new PeruseError('invalid_argument', `${which}: it has no label.`);
  }
  if (task === 'token-classification') {
    for (const [index, { label }] of (plain.entities as EntitySpan[]).entries()) checkKind(label, `${which}: entity ${index}`);
  }
  return plain;
}

/** Kinds of entities: the engine writes O, B- and I- itself. */
export function checkKind(kind: string, what: string): void {
  if (kind !== 'O' && !/^[BI]-/.test(kind)) return;
  const remedy = kind === 'O' ? 'leave out what is no entity' : `use '${kind.slice(2)}' and mark a whole entity by its start and end`;
  throw new PeruseError('invalid_argument', `${what} has the label '${kind}', which is how a token is labelled: ${remedy}.`);
}

/** Copies only the known members of spans, because a caller's object may have others. */
function copied(name: string, value: unknown): unknown {
  if (name === 'answer' && value !== null) return { start: (value as EntitySpan).start, end: (value as EntitySpan).end };
  if (name === 'entities') return (value as EntitySpan[]).map(({ start, end, label }) => ({ start, end, label }));
  return Array.isArray(value) ? [...(value as unknown[])] : value;
}

/** Every label that the examples name, and how many of them do. */
export function labelCounts(task: TeachTask | PretrainTask, examples: readonly PlainExample[]): Map<string, number> {
  const counts = new Map<string, number>();
  const named = ({ label, entities: spans }: PlainExample): unknown[] =>
    task === 'token-classification' ? (spans as EntitySpan[]).map((span) => span.label) : Array.isArray(label) ? label : [label];
  for (const example of examples) {
    for (const label of new Set(named(example))) {
      if (typeof label === 'string') counts.set(label, (counts.get(label) ?? 0) + 1);
    }
  }
  return counts;
}
