// Examples for teach(), and their plain form for the engine (core/train/session/teach_session.h).
import { capital, PeruseError, show } from '../errors.js';
import { nameOf } from '../tasks/call.js';
import { hasClassifier, type TrainingTask } from '../tasks/definition.js';
import type { ExamplesOf, TeachTask } from '../tasks/training.js';

/** A text, or a pair of texts, with its label. */
export interface TextExample {
  text: string;
  text_pair?: string;
  /**
   * A label; for multi-label a list of labels, which may be empty; for regression a number or a list of numbers. With `labels`, or with a
   * `problem_type` of classification, numbers are class ids: indices into `labels`, or LABEL_0, LABEL_1, ...
   */
  label?: string | readonly string[] | number | readonly number[];
  /** Instead of `label`: the probability of each label, in the order of `labels`. Use it to learn from another model's answers. */
  probabilities?: readonly number[];
}

/** An entity's range in a text, in UTF-16 indices; `end` is exclusive. */
export interface EntitySpan {
  start: number;
  end: number;
  /** The kind of entity, without B- and I-. */
  label: string;
}

/** A text with its entities. */
export interface EntitiesExample {
  text: string;
  entities: readonly EntitySpan[];
}

/** A question, a context, and the range of the answer in the context. */
export interface AnswerExample {
  question: string;
  context: string;
  /** UTF-16 indices into the context; null if it does not answer the question. */
  answer: { start: number; end: number } | null;
}

interface Examples {
  labels: TextExample;
  entities: EntitiesExample;
  answers: AnswerExample;
}

/** The type of a task's examples. */
export type TeachExample<T extends TeachTask = TeachTask> = Examples[ExamplesOf<T>];

/** Meaning of labels, by the names of config.json. */
export type ProblemType = 'single_label_classification' | 'multi_label_classification' | 'regression';

export type PlainExample = Record<string, unknown>;

type Fields = Record<string, (value: unknown) => string | undefined>;

const aString = (value: unknown) => (typeof value === 'string' ? undefined : 'is not a string');
const aStringIfAny = (value: unknown) => (value === undefined ? undefined : aString(value));
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const isListOf = (value: unknown, is: (item: unknown) => boolean) => Array.isArray(value) && value.every(is);
const isString = (value: unknown) => typeof value === 'string';
const isWhole = (value: string) => !/\p{Surrogate}/u.test(value);

function aLabel(value: unknown): string | undefined {
  if (value === undefined || isString(value) || isNumber(value) || isListOf(value, isString) || isListOf(value, isNumber)) return undefined;
  return 'is neither a label nor a list of labels nor a number';
}

/** Rejects lone surrogates: the model's files would contain another character. */
function checkText(label: unknown, which: string): void {
  const broken = [label].flat().find((name) => typeof name === 'string' && !isWhole(name));
  if (broken !== undefined)
    throw new PeruseError('invalid_argument', `${which}: its label holds half a character: ${JSON.stringify(broken)}.`);
}

const numbersIfAny = (value: unknown) => (value === undefined || isListOf(value, isNumber) ? undefined : 'is not a list of numbers');

function aSpan(value: unknown): string | undefined {
  const { start, end } = (value ?? {}) as { start?: unknown; end?: unknown };
  return Number.isInteger(start) && Number.isInteger(end) ? undefined : 'lacks start and end as whole numbers';
}

const aSpanOrNull = (value: unknown) => (value === null ? undefined : aSpan(value));

function entities(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'is not a list';
  for (const entity of value as unknown[]) {
    const why = aSpan(entity);
    if (why !== undefined) return `holds an entity that ${why}`;
    if (!isString((entity as EntitySpan).label)) return 'holds an entity without a label';
  }
  return undefined;
}

const kFields: Record<TrainingTask['examples'], Fields> = {
  labels: { text: aString, text_pair: aStringIfAny, label: aLabel, probabilities: numbersIfAny },
  entities: { text: aString, entities },
  answers: { question: aString, context: aString, answer: aSpanOrNull },
  lines: { text: aString },
};

const kEngineNames: Record<string, string> = { text_pair: 'pair' };

export function fieldsOf(task: TrainingTask): Fields {
  const { text_pair, ...others } = kFields[task.examples];
  return hasClassifier(task) ? kFields[task.examples] : others;
}

/** Converts examples to plain data, and checks types. `what` is 'example' or 'validation example'. Omits unknown fields. */
export function plainExamples(task: TrainingTask, given: unknown, what: string): PlainExample[] {
  if (!Array.isArray(given)) throw new PeruseError('invalid_argument', `The ${what}s must be a list, not ${nameOf(given)}.`);
  return Array.from(given as unknown[], (example, number) => plainExample(task, example, `${capital(what)} ${number}`));
}

function plainExample(task: TrainingTask, example: unknown, which: string): PlainExample {
  const fields = fieldsOf(task);
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
  if (task.examples === 'entities') {
    for (const [index, { label }] of (plain.entities as EntitySpan[]).entries()) checkKind(label, `${which}: entity ${index}`);
  }
  return plain;
}

/** Checks a kind of entity. The labels O, B-... and I-... of its tokens are created by the engine. */
export function checkKind(kind: string, what: string): void {
  if (kind !== 'O' && !/^[BI]-/.test(kind)) return;
  const remedy = kind === 'O' ? 'omit tokens outside of entities' : `use '${kind.slice(2)}' and mark a whole entity by its start and end`;
  throw new PeruseError('invalid_argument', `${what} has the label '${kind}', a label of tokens instead of entities: ${remedy}.`);
}

/** Copies only the known members of spans, because a caller's object may have others. */
function copied(name: string, value: unknown): unknown {
  if (name === 'answer' && value !== null) return { start: (value as EntitySpan).start, end: (value as EntitySpan).end };
  if (name === 'entities') return (value as EntitySpan[]).map(({ start, end, label }) => ({ start, end, label }));
  return Array.isArray(value) ? [...(value as unknown[])] : value;
}

export function labelCounts(task: TrainingTask, examples: readonly PlainExample[]): Map<string, number> {
  const counts = new Map<string, number>();
  const named = ({ label, entities: spans }: PlainExample): unknown[] =>
    task.examples === 'entities' ? (spans as EntitySpan[]).map((span) => span.label) : Array.isArray(label) ? label : [label];
  for (const example of examples) {
    for (const label of new Set(named(example))) {
      if (typeof label === 'string') counts.set(label, (counts.get(label) ?? 0) + 1);
    }
  }
  return counts;
}
