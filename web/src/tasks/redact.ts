// redact: replaces private details, found by patterns, a model and other finders, by placeholders, and restores them.
import { describeError, PeruseError, show } from '../errors.js';
import { kChecksums } from '../redact/checksums.js';
import { isPersonType, recased } from '../redact/letter_case.js';
import { kPatternNames, type PatternFinder, type PatternName } from '../redact/pattern_names.js';
import { Placeholders, type Restoration, restore, sameWords } from '../redact/placeholders.js';
import { calling, type Detail, detailsOf, merged, type RedactionRule, type Selection } from '../redact/private_details.js';
import { type FoldedText, foldText } from '../redact/text_folding.js';
import {
  asList,
  type CallOptions,
  checkString,
  checkStrings,
  engineOptions,
  labelList,
  nameOf,
  type OneOrMany,
  type Run,
  taskOptions,
} from './call.js';
import type { CallContext } from './definition.js';
import type { EntityGroup } from './token_classification.js';
import type { PipelineTokenizer } from './tokenizer_calls.js';
import type { LabelledSpan } from './zero_shot_token_classification.js';

export type { PatternFinder, PatternMatch, PatternName } from '../redact/pattern_names.js';
export { type Restoration, restore } from '../redact/placeholders.js';
export type { RedactionRule } from '../redact/private_details.js';
export type { TextRange } from '../redact/text_folding.js';

/** A detail that the caller's finder returns. */
export interface FoundDetail {
  type: string;
  /** UTF-16 indices into the text that the finder received. */
  start: number;
  end: number;
  /** From 0 to 1. Default 1. */
  score?: number;
}

/**
 * Finds details in addition to the model: returns a list for each text. `entityFinder` and `labelFinder` make finders of pipelines. The
 * texts are normalised copies (docs/tasks/redact.md, "Unusual spelling").
 */
export type DetailFinder = (
  texts: readonly string[],
  options: { signal?: AbortSignal },
) => readonly (readonly FoundDetail[])[] | Promise<readonly (readonly FoundDetail[])[]>;

/** How to find details. Options of a call replace those of `pipeline('redact', ...)` and `createRedactor()`. */
export interface RedactFinders {
  /** Find details by these patterns, without the model: names, or your own; true means all names. Default false. */
  patterns?: boolean | readonly (PatternName | PatternFinder)[];
  /** Further finders, for example a second model. */
  finders?: readonly DetailFinder[];
  /**
   * Throw 'unsupported' if the model cannot read a part of a text: letters or digits that its tokenizer does not know, or a lone surrogate.
   * Also replaces every other occurrence of a found detail. Default false.
   */
  fail_closed?: boolean;
}

/** Options of `pipeline('redact', ...)`. */
export interface RedactPipelineOptions extends RedactFinders {
  /** For a GLiNER model: the labels of the details to find, for example 'person' and 'street address'. */
  labels?: string | readonly string[];
}

/** Options of redaction. */
export interface RedactOptions extends CallOptions, RedactFinders {
  /** The types to replace, as the model names them, for example 'EMAIL'. Default: all. */
  types?: readonly string[];
  /** Minimum score of a detail. Default 0; with a GLiNER model 0.5. */
  threshold?: number;
  /**
   * Replace a token if the probability of its label 'O' (not private) is below this value, 0 to 1. Higher values find more details and cause
   * more false alarms. With 0 (default), the label with the highest probability decides.
   */
  recall?: number;
  /** Returns the replacement of an entity. Default: its placeholder, for example '[EMAIL_1]'. */
  replacer?: (entity: FoundEntity) => string;
  /**
   * A check for each type; entities that fail it are not replaced. 'luhn' (cards) and 'iban' verify check digits; a function returns whether
   * the text has the type.
   */
  rules?: Readonly<Record<string, RedactionRule>>;
  /** The `mapping` of earlier calls: equal texts get the same placeholder. Such a placeholder that occurs in a text is itself replaced. */
  mapping?: Readonly<Record<string, string>>;
  /** How to join tokens to entities (as for token-classification). Default 'simple'. */
  aggregation_strategy?: 'simple' | 'first' | 'max' | 'average';
  /** Number of tokens that neighbouring windows of a long text share. Default: 64, but at most a quarter of the window. */
  stride?: number;
  /** Number of tokens in a window. Default: the model's limit, at most 512. */
  max_length?: number;
}

/** An entity before its replacement. */
export interface FoundEntity {
  type: string;
  text: string;
  score: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
  /** For example '[EMAIL_1]'; the same for all occurrences of a text. */
  placeholder: string;
}

/** An entity that was replaced. */
export interface RedactedEntity extends FoundEntity {
  replacement: string;
}

/** A redacted text. */
export interface Redaction {
  text: string;
  entities: RedactedEntity[];
  /** The original text of each placeholder of all texts of the call and of `options.mapping`. Frozen. */
  readonly mapping: Readonly<Record<string, string>>;
}

/** The call of redaction. */
export interface RedactCall {
  /** Replaces private details by placeholders: `redact(text)`, or `redact([text, ...])`. Long texts are read in windows. */
  <I extends string | readonly string[]>(texts: I, options?: RedactOptions): Promise<OneOrMany<I, Redaction>>;
  /** Starts a conversation: equal words of a type get the same placeholder in all its texts, in any letter case. */
  session(options?: SessionOptions): RedactionSession;
}

/** Options of a session: the `mapping` of an earlier session continues it. */
export type SessionOptions = Pick<RedactOptions, 'mapping'>;

/** A conversation with common placeholders. */
export interface RedactionSession {
  /** Redacts texts, like the pipeline. */
  redact<I extends string | readonly string[]>(texts: I, options?: Omit<RedactOptions, 'mapping'>): Promise<OneOrMany<I, Redaction>>;
  /** Restores the details of all texts of the session, and reports unknown placeholders. */
  restore(text: string): Restoration;
  /** The original text of each placeholder. Store it to continue the session later. */
  readonly mapping: Readonly<Record<string, string>>;
}

const kModelOptions = {
  recall: 'number',
  aggregation_strategy: ['simple', 'first', 'max', 'average'],
  stride: 'number',
  max_length: 'number',
} as const;
/** The options with the kinds of their values. */
export const kRedactOptions = taskOptions<RedactOptions>('redact', {
  types: 'other',
  threshold: 'number',
  replacer: 'other',
  rules: 'other',
  mapping: 'other',
  patterns: 'other',
  finders: 'other',
  fail_closed: 'boolean',
  ...kModelOptions,
});

/** An internal option, which replaces `mapping`: the placeholders of a session's earlier calls. */
export const kPlaceholders = Symbol('placeholders');

/** The type of a placeholder that a text already contains. */
const kStanding = 'PLACEHOLDER';

/** Parts of a pipeline that a call uses in addition to the engine. */
export interface RedactContext extends CallContext {
  defaults?: RedactPipelineOptions;
}

/** Without `run` there is no model. */
export function redact(run: Run | undefined, { defaults = {}, loadPatterns, tokenizer }: RedactContext = {}): RedactCall {
  checkFinders(defaults);
  const labels = defaults.labels === undefined ? undefined : labelList(defaults.labels, 'labels');
  const call = async (texts: unknown, options: RedactOptions & { [kPlaceholders]?: Placeholders } = {}) => {
    const { choice, settings } = checkedOptions(options, defaults);
    const originals = asList(texts).map((text, index) => checkString(text, `Input ${index}`));
    const folded = originals.map(foldText);
    const findDetails = choice.patterns.length > 0 ? await loadPatterns?.() : undefined;
    const read = run === undefined ? withoutModel(settings) : readByModel(run, settings, labels, choice.threshold);
    const [byModel, ...others] = await Promise.all([
      read(folded, options.signal),
      ...(choice.finders ?? []).map((finder) => askFinder(finder, folded, options.signal)),
    ]);
    const details = folded.map((text, index) => {
      const readings = [...(byModel[index] ?? []), ...others.map((found) => found[index] ?? [])];
      const matches = calling('A pattern', () => findDetails?.(text.text, choice.patterns) ?? []);
      return detailsOf(text, matches, readings, choice, choice.fail_closed === true);
    });
    if (choice.fail_closed) await checkReadable(originals, folded, details, tokenizer);
    const placeholders = options[kPlaceholders] ?? new Placeholders(choice.mapping);
    for (const text of originals) placeholders.note(text);
    const results = originals.map((original, index) => replaceAll(original, details[index]!, choice.replacer, placeholders));
    return Array.isArray(texts) ? results : results[0];
  };
  const session = (options: SessionOptions = {}) => sessionOf(call as RedactCall, options);
  return Object.assign(call, { session }) as RedactCall;
}

function sessionOf(call: RedactCall, options: SessionOptions): RedactionSession {
  const { choice } = checkedOptions(options, {});
  const placeholders = new Placeholders(choice.mapping, sameWords);
  return {
    redact: (texts, given = {}) => call(texts, { ...given, [kPlaceholders]: placeholders } as RedactOptions),
    restore: (text) => restore(text, placeholders.mapping()),
    get mapping() {
      return placeholders.mapping();
    },
  };
}

type Choice = Selection &
  Pick<RedactOptions, 'replacer' | 'mapping' | 'finders' | 'fail_closed'> & { patterns: readonly (PatternName | PatternFinder)[] };

/** Separates the options of this file, checked, from those of the engine. */
function checkedOptions(options: RedactOptions, defaults: RedactPipelineOptions): { choice: Choice; settings: Record<string, unknown> } {
  // throws the error for options that are not an object
  if (typeof options !== 'object' || options === null) engineOptions('redact', kRedactOptions, options);
  const { replacer, rules = {}, types, threshold, mapping = {}, patterns, finders, fail_closed, ...rest } = options;
  const settings = engineOptions('redact', kRedactOptions, rest);
  const refuse = (name: string, wish: string, value: unknown) => {
    throw new PeruseError('invalid_argument', `${name} must be ${wish}, not ${nameOf(value)}.`);
  };
  if (replacer !== undefined && typeof replacer !== 'function') refuse('replacer', 'a function', replacer);
  if (types !== undefined) checkStrings(types, 'types');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0)) refuse('threshold', 'a number', threshold);
  if (typeof rules !== 'object' || rules === null) refuse('rules', 'an object', rules);
  if (typeof mapping !== 'object' || mapping === null) refuse('mapping', 'an object', mapping);
  checkFinders({ patterns, finders, fail_closed });
  for (const [type, rule] of Object.entries(rules)) {
    if (typeof rule === 'function' || kChecksums.includes(rule)) continue;
    const names = kChecksums.map((name) => `'${name}'`).join(', ');
    throw new PeruseError('invalid_argument', `The rule for ${type} must be a function or one of ${names}.`);
  }
  for (const [placeholder, text] of Object.entries(mapping)) checkString(text, `The mapping of ${placeholder}`);
  const chosen = patterns ?? defaults.patterns ?? false;
  const choice = {
    replacer,
    rules,
    types,
    threshold,
    mapping,
    patterns: chosen === true ? kPatternNames : chosen === false ? [] : chosen,
    finders: finders ?? defaults.finders,
    fail_closed: fail_closed ?? defaults.fail_closed,
  };
  return { choice, settings };
}

/** Checks the options that choose finders. */
export function checkFinders({ patterns = false, finders = [], fail_closed = false }: RedactFinders): void {
  if (typeof fail_closed !== 'boolean') {
    throw new PeruseError('invalid_argument', `fail_closed must be true or false, not ${nameOf(fail_closed)}.`);
  }
  if (!Array.isArray(finders) || finders.some((finder) => typeof finder !== 'function')) {
    throw new PeruseError('invalid_argument', `finders must be a list of functions, not ${nameOf(finders)}.`);
  }
  if (typeof patterns === 'boolean') return;
  if (!Array.isArray(patterns))
    throw new PeruseError('invalid_argument', `patterns must be true, false or a list, not ${nameOf(patterns)}.`);
  for (const one of patterns as readonly unknown[]) {
    const { type, find } = (typeof one === 'object' && one !== null ? one : {}) as Partial<PatternFinder>;
    if (kPatternNames.includes(one as PatternName) || (typeof type === 'string' && typeof find === 'function')) continue;
    throw new PeruseError(
      'invalid_argument',
      `There is no pattern ${show(one)}; there are ${kPatternNames.join(', ')}, and { type, find }.`,
    );
  }
}

type Read = (folded: readonly FoldedText[], signal: AbortSignal | undefined) => Promise<Detail[][][]>;

function withoutModel(settings: Record<string, unknown>): Read {
  const [name] = Object.keys(settings);
  if (name !== undefined) throw new PeruseError('invalid_argument', `${name} is an option of models; this redactor has none.`);
  return async () => [];
}

function readByModel(run: Run, settings: Record<string, unknown>, labels: readonly string[] | undefined, threshold?: number): Read {
  if (labels === undefined)
    return (folded, signal) => readTwice(run, { aggregation_strategy: 'simple', windows: true, ...settings }, folded, signal);
  const [name] = Object.keys(settings).filter((one) => one in kModelOptions);
  if (name !== undefined) throw new PeruseError('invalid_argument', `${name} is an option of token classifiers; this model reads labels.`);
  return async (folded, signal) => {
    const options = { ...settings, labels, ...(threshold === undefined ? {} : { threshold }) };
    const found = (await run(
      folded.map(({ text }) => ({ text })),
      options,
      signal,
    )) as LabelledSpan[][];
    return found.map((spans) => [spans.map(({ label, score, start, end }) => ({ type: label, score, start, end }))]);
  };
}

/** Reads each text, and if its letter case hides names from the model, a copy with other letter case. */
async function readTwice(
  run: Run,
  settings: Record<string, unknown>,
  folded: readonly FoldedText[],
  signal: AbortSignal | undefined,
): Promise<Detail[][][]> {
  const copies = folded.map(({ text }) => recased(text));
  const inputs = [...folded, ...copies.filter((copy) => copy !== undefined)].map(({ text }) => ({ text }));
  const found = ((await run(inputs, settings, signal)) as EntityGroup[][]).map((entities) =>
    entities.map(({ entity_group: type, score, start, end }) => ({ type, score, start, end })),
  );
  let next = folded.length; // results of the copies follow those of the texts
  return copies.map((copy, index) => {
    const second = copy === undefined ? [] : (found[next++] ?? []);
    return [found[index]!, copy?.namesOnly ? second.filter(({ type }) => isPersonType(type)) : second];
  });
}

async function askFinder(finder: DetailFinder, folded: readonly FoldedText[], signal: AbortSignal | undefined): Promise<Detail[][]> {
  const texts = folded.map(({ text }) => text);
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
  return texts.map((text, index) => found[index]!.map((detail: FoundDetail) => checkDetail(detail, text)));
}

function checkDetail({ type, start, end, score = 1 }: FoundDetail, text: string): Detail {
  const isRange = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= text.length;
  if (isRange && typeof type === 'string' && typeof score === 'number') return { type, start, end, score };
  throw new PeruseError(
    'invalid_argument',
    `A finder must return { type, start, end } within the text, not ${show({ type, start, end })}.`,
  );
}

/** Throws if the model cannot read letters or digits outside of the details. */
async function checkReadable(
  originals: readonly string[],
  folded: readonly FoldedText[],
  details: readonly (readonly Detail[])[],
  tokenizer: PipelineTokenizer | undefined,
): Promise<void> {
  const unreadable = (index: number, what: string) => {
    throw new PeruseError('unsupported', `Input ${index} can't be read completely, so it was not redacted (fail_closed): ${what}.`);
  };
  for (const [index, text] of originals.entries())
    if (/\p{Surrogate}/u.test(text)) unreadable(index, 'it contains a lone surrogate (half of a character)');
  if (tokenizer === undefined) return;
  const unknown = new Set((await tokenizer.convert_tokens_to_ids(['[UNK]', '<unk>'])).filter((id) => id !== undefined));
  for (const [index, one] of folded.entries()) {
    const { ids, offsets, special_tokens_mask } = await tokenizer.encode(one.text);
    for (const [token, [start, end]] of offsets.entries()) {
      if (!unknown.has(ids[token]!) || special_tokens_mask[token] === 1 || !/[\p{L}\p{N}]/u.test(one.text.slice(start, end))) continue;
      const range = one.original({ start, end });
      if (details[index]!.some((detail) => detail.start <= range.start && range.end <= detail.end)) continue;
      unreadable(index, `the model's tokenizer does not know the characters ${range.start} to ${range.end}`);
    }
  }
}

function replaceAll(text: string, details: readonly Detail[], replacer: RedactOptions['replacer'], placeholders: Placeholders): Redaction {
  const entities: RedactedEntity[] = [];
  const standing = placeholders.standingIn(text).map((range) => ({ type: kStanding, score: 1, ...range }));
  let result = '';
  let at = 0;
  for (const { type, score, start, end } of merged([...standing, ...details])) {
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
    get mapping() {
      return placeholders.mapping();
    },
  };
}
