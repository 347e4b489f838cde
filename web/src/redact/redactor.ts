// redact: replaces private details, found by patterns, a model and other finders, by placeholders.
import { asList, checkString, nameOf } from '../checks.js';
import { asArgumentError, describeError, PeruseError, show, throwIfAborted } from '../errors.js';
import { afterWork } from '../events.js';
import { calling, type Detail, merged, unreplaced } from './details.js';
import type { RedactKit } from './kit.js';
import { type Choice, checkedChoice, checkFinders } from './options.js';
import type { PatternMatch } from './pattern_names.js';
import { Placeholders } from './placeholders.js';
import { kPlaceholders, sessionOf } from './session.js';
import type { FoldedText } from './text_folding.js';
import type {
  DetailFinder,
  FoundDetail,
  RedactCall,
  RedactedEntity,
  RedactFinders,
  Redaction,
  RedactOptions,
  UnreadRange,
} from './types.js';

/** Options of a call that are neither about redaction nor for the model. */
export type ReadCall = Pick<RedactOptions, 'signal' | 'priority'>;

/** A model that finds details. */
export interface ModelReader {
  /** Checks the options of models. */
  settings(options: Record<string, unknown>): Record<string, unknown>;
  /** Returns lists of findings for each text. */
  read(texts: readonly string[], settings: Record<string, unknown>, choice: Choice, call: ReadCall): Promise<Detail[][][]>;
  /** Returns the ranges of each text that the model cannot read. */
  unread(texts: readonly string[]): Promise<UnreadRange[][]>;
}

export type LoadRedactKit = () => Promise<RedactKit>;

/** A text of a call with what was found in its readings. */
interface Finding {
  original: string;
  readings: readonly FoldedText[];
  details: Detail[];
  unread: UnreadRange[];
}

/** Creates the call. Without `model` only patterns and finders find details. */
export function createRedact(model: ModelReader | undefined, defaults: RedactFinders, loadKit: LoadRedactKit): RedactCall {
  checkFinders(defaults);
  const call = async (texts: unknown, options: RedactOptions & { [kPlaceholders]?: Placeholders } = {}) => {
    const { choice, rest } = checkedChoice(options, defaults);
    const { signal, priority, ...ofModel } = rest as ReadCall;
    const reading = { ...(signal && { signal }), ...(priority && { priority }) };
    const settings = model === undefined ? withoutModel(ofModel) : model.settings(ofModel);
    const originals = asList(texts).map((text, index) => checkString(text, `Input ${index}`));
    const findings = await find(originals, choice, await loadKit(), (read) => model?.read(read, settings, choice, reading), signal);
    if (model !== undefined) await addUnread(findings, model);
    if (choice.fail_closed) for (const [index, { unread }] of findings.entries()) if (unread[0]) throw unreadable(index, unread[0]);
    const placeholders = options[kPlaceholders] ?? new Placeholders(choice.mapping);
    for (const text of originals) placeholders.note(text);
    const results = originals.map((original, index) => replaceAll(original, findings[index]!, choice.replacer, placeholders));
    return Array.isArray(texts) ? results : results[0];
  };
  return Object.assign(call, { session: sessionOf(call as RedactCall) }) as RedactCall;
}

const kModelOptions = ['aggregation_strategy', 'head_mask', 'max_length', 'recall', 'stride'];

function withoutModel(rest: Record<string, unknown>): Record<string, unknown> {
  const [name] = Object.entries(rest).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (name === undefined) return {};
  const words = kModelOptions.includes(name)
    ? `${name} is an option of models; this redactor has none.`
    : `redact has no option ${show(name)}.`;
  throw new PeruseError('invalid_argument', words);
}

type AskModel = (texts: readonly string[]) => Promise<Detail[][][]> | undefined;

async function find(
  originals: readonly string[],
  choice: Choice,
  { readingsOf, searchDetails, detailsOf }: RedactKit,
  askModel: AskModel,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  const readings = originals.map(readingsOf);
  const texts = readings.flat().map(({ text }) => text);
  const [byModel, matches, ...others] = await Promise.all([
    askModel(texts) ?? [],
    matchesIn(texts, choice, searchDetails, signal),
    ...(choice.finders ?? []).map((finder) => askFinder(finder, texts, signal)),
  ]);
  let next = 0;
  return originals.map((original, index) => {
    const details = readings[index]!.flatMap((reading) => {
      const found = [...(byModel[next] ?? []), ...others.map((lists) => lists[next] ?? [])];
      const byPatterns = matches[next] ?? [];
      next += 1;
      return detailsOf(reading, byPatterns, found, choice, choice.fail_closed === true, readings[index]!);
    });
    const halves = [...original.matchAll(/\p{Surrogate}+/gu)].map(({ 0: half, index: start }) => ({ start, end: start + half.length }));
    const unread = halves.map((range): UnreadRange => ({ ...range, reason: 'lone_surrogate' }));
    return { original, readings: readings[index]!, details: merged(details), unread };
  });
}

/** Returns what the patterns find in each text. Lets events in between the searches, so that pages stay responsive. */
async function matchesIn(
  texts: readonly string[],
  { patterns }: Choice,
  searchDetails: RedactKit['searchDetails'],
  signal: AbortSignal | undefined,
): Promise<PatternMatch[][]> {
  const found: PatternMatch[][] = [];
  for (const text of patterns.length === 0 ? [] : texts) {
    const search = searchDetails(text, patterns);
    for (;;) {
      throwIfAborted(signal);
      const start = performance.now();
      const step = calling('A pattern', () => search.next());
      await afterWork(performance.now() - start);
      if (!step.done) continue;
      found.push(step.value);
      break;
    }
  }
  return found;
}

async function askFinder(finder: DetailFinder, texts: readonly string[], signal: AbortSignal | undefined): Promise<Detail[][]> {
  let found: Awaited<ReturnType<DetailFinder>>;
  try {
    found = await finder(texts, signal === undefined ? {} : { signal });
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('invalid_argument', `A finder failed: ${describeError(error)}`, { cause: error });
  }
  if (!Array.isArray(found) || found.length !== texts.length || !found.every(Array.isArray)) {
    throw new PeruseError('invalid_argument', `A finder must return a list for each of the ${texts.length} texts, not ${show(found)}.`);
  }
  return texts.map((text, index) => found[index]!.map((detail: FoundDetail | null) => checkDetail(detail ?? ({} as FoundDetail), text)));
}

function checkDetail({ type, start, end, score = 1 }: FoundDetail, text: string): Detail {
  const isRange = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= text.length;
  if (isRange && typeof type === 'string' && typeof score === 'number') return { type, start, end, score };
  throw new PeruseError(
    'invalid_argument',
    `A finder must return { type, start, end } within the text, not ${show({ type, start, end })}.`,
  );
}

/** Adds the letters and digits that the model does not know and that were not replaced. Neighbouring ranges become one. */
async function addUnread(findings: readonly Finding[], model: ModelReader): Promise<void> {
  const unknown = await model.unread(findings.flatMap(({ readings }) => readings.map(({ text }) => text)));
  let next = 0;
  for (const finding of findings) {
    const ranges = finding.readings.flatMap((reading) =>
      (unknown[next++] ?? []).map((range) => ({ ...reading.original(range), reason: range.reason })),
    );
    finding.unread = unreplaced(finding.original, [...finding.unread, ...ranges], finding.details);
  }
}

function unreadable(index: number, { start, end, reason }: UnreadRange): PeruseError {
  const what =
    reason === 'lone_surrogate'
      ? 'it contains a lone surrogate (half of a character)'
      : `the model's tokenizer does not know the characters ${start} to ${end}`;
  return new PeruseError('unsupported', `Input ${index} can't be read completely, so it was not redacted (fail_closed): ${what}.`);
}

/** The type of a placeholder that a text already contains. */
const kStanding = 'PLACEHOLDER';

function replaceAll(text: string, finding: Finding, replacer: RedactOptions['replacer'], placeholders: Placeholders): Redaction {
  const entities: RedactedEntity[] = [];
  const standing = placeholders.standingIn(text).map((range) => ({ type: kStanding, score: 1, ...range }));
  let result = '';
  let at = 0;
  for (const { type, score, start, end } of merged([...standing, ...finding.details])) {
    const original = text.slice(start, end);
    const entity = { type, text: original, score, start, end, placeholder: placeholders.of(type, original) };
    const replacement =
      replacer === undefined
        ? entity.placeholder
        : checkString(
            calling('The replacer', () => replacer(entity)),
            "The replacer's result",
          );
    entities.push({ ...entity, replacement });
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return {
    text: result + text.slice(at),
    entities,
    unread: finding.unread,
    get mapping() {
      return placeholders.mapping();
    },
  };
}

/** A redactor without a model. It is called like a pipeline for redact, and throws for options of models. */
export type Redactor = RedactCall & {
  /** Does nothing, because no memory needs to be freed. */
  dispose(): Promise<void>;
  /** The same as dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** `createRedactor` of an entry that loads the kit this way. */
export function redactorOf(options: RedactFinders, loadKit: LoadRedactKit): Redactor {
  try {
    if (typeof options !== 'object' || options === null) {
      throw new PeruseError('invalid_argument', `The options of createRedactor() must be an object, not ${nameOf(options)}.`);
    }
    const { patterns, finders, fail_closed, ...rest } = options;
    const [name] = Object.keys(rest);
    if (name !== undefined) throw new PeruseError('invalid_argument', `${name} is an option of models; createRedactor() has none.`);
    if (!patterns && !finders?.length) {
      throw new PeruseError('invalid_argument', 'createRedactor() needs `patterns` or `finders`: without a model it finds nothing.');
    }
    const dispose = async () => {};
    return Object.assign(createRedact(undefined, { patterns, finders, fail_closed }, loadKit), {
      dispose,
      ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}),
    }) as Redactor;
  } catch (error) {
    throw asArgumentError(error);
  }
}
