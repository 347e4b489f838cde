// redact: what a token classifier finds in a text is replaced by placeholders, and can be put back.
import { PeruseError } from '../errors.js';
import {
  asList,
  checkString,
  checkStrings,
  engineOptions,
  nameOf,
  type CallOptions,
  type OneOrMany,
  type OptionNames,
  type Run,
} from './call.js';
import { checksums, type ChecksumName } from './checksums.js';
import type { EntityGroup } from './token_classification.js';

/** Whether a found text is really of its type: a rule by name, or a function. */
export type RedactionRule = ChecksumName | ((text: string) => boolean);

/** Options of redaction. */
export interface RedactOptions extends CallOptions {
  /** The types to replace, as the model names them ('EMAIL'). Default: all. */
  types?: readonly string[];
  /** Leave entities alone whose score is lower. Default 0. */
  threshold?: number;
  /** Gives what stands in place of an entity. Default: its placeholder, '[EMAIL_1]'. */
  replacer?: (entity: FoundEntity) => string;
  /**
   * By type, a rule that an entity has to pass: 'luhn' (card numbers), 'iban', or a function. What does not pass is left
   * alone. Default: none.
   */
  rules?: Readonly<Record<string, RedactionRule>>;
  /** Placeholders of earlier calls: the same text gets the same placeholder again. */
  mapping?: Readonly<Record<string, string>>;
  /** How tokens become entities (token-classification). Default 'simple'. */
  aggregation_strategy?: 'simple' | 'first' | 'max' | 'average';
  /** Tokens that neighbouring windows of a long text share. Default: 64, or a quarter of a shorter window. */
  stride?: number;
  /** Tokens of a window. Default: what the model takes, at most 512. */
  max_length?: number;
}

/** An entity, about to be replaced. */
export interface FoundEntity {
  type: string;
  text: string;
  score: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
  /** '[EMAIL_1]': the same for the same text, wherever it stands. */
  placeholder: string;
}

/** An entity that was replaced. */
export interface RedactedEntity extends FoundEntity {
  replacement: string;
}

/** A text without its entities. */
export interface Redaction {
  text: string;
  /** In the order of the text. */
  entities: RedactedEntity[];
  /** What each placeholder stands for, those of `options.mapping` and of earlier texts of the call included. */
  mapping: Record<string, string>;
}

/** `redact(text)`, `redact([text, ...])`: long texts are read in windows, all of them. */
export type RedactCall = <I extends string | readonly string[]>(texts: I, options?: RedactOptions) => Promise<OneOrMany<I, Redaction>>;

const kOptions: OptionNames<RedactOptions> = {
  types: true,
  threshold: true,
  replacer: true,
  rules: true,
  mapping: true,
  aggregation_strategy: true,
  stride: true,
  max_length: true,
};

/** Makes the call. */
export function redact(run: Run): RedactCall {
  const call = async (texts: unknown, options: RedactOptions = {}) => {
    if (typeof options !== 'object' || options === null) engineOptions('redact', kOptions, options); // Which refuses it.
    const { replacer, rules, types, threshold, mapping, ...rest } = options;
    const settings = engineOptions('redact', kOptions, rest);
    const choice = checkChoice({ replacer, rules, types, threshold, mapping });
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const found = (await run(inputs, { aggregation_strategy: 'simple', windows: true, ...settings }, options.signal)) as EntityGroup[][];
    const placeholders = new Placeholders(mapping, inputs);
    const results = found.map((entities, index) => replaceAll(inputs[index]!.text, entities, choice, placeholders));
    return Array.isArray(texts) ? results : results[0];
  };
  return call as RedactCall;
}

/** Puts back what `redact` took out: every placeholder of the mapping becomes what it stands for. */
export function restore(text: string, mapping: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\[[^[\]]+\]/g, (placeholder) => (Object.hasOwn(mapping, placeholder) ? mapping[placeholder]! : placeholder));
}

type Choice = Pick<RedactOptions, 'replacer' | 'rules' | 'types' | 'threshold' | 'mapping'>;

function checkChoice(choice: Choice): Choice {
  const { replacer, rules = {}, types, threshold, mapping = {} } = choice;
  const refuse = (name: string, wish: string, value: unknown) => {
    throw new PeruseError('invalid_argument', `${name} is ${nameOf(value)}, not ${wish}.`);
  };
  if (replacer !== undefined && typeof replacer !== 'function') refuse('replacer', 'a function', replacer);
  if (types !== undefined) checkStrings(types, 'types');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0)) refuse('threshold', 'a number', threshold);
  if (typeof rules !== 'object' || rules === null) refuse('rules', 'an object', rules);
  if (typeof mapping !== 'object' || mapping === null) refuse('mapping', 'an object', mapping);
  for (const [type, rule] of Object.entries(rules)) {
    if (typeof rule === 'function' || Object.hasOwn(checksums, rule)) continue;
    throw new PeruseError(
      'invalid_argument',
      `The rule for ${type} is neither a function nor one of ${Object.keys(checksums).join(', ')}.`,
    );
  }
  for (const [placeholder, text] of Object.entries(mapping)) checkString(text, `mapping, ${placeholder},`);
  return choice;
}

/** The text with its entities replaced. */
function replaceAll(text: string, entities: readonly EntityGroup[], choice: Choice, placeholders: Placeholders): Redaction {
  const redacted: RedactedEntity[] = [];
  let result = '';
  let at = 0;
  for (const { type, score, start, end } of joined(text, entities)) {
    const original = text.slice(start, end);
    if (start < at || !isWanted(type, original, score, choice)) continue;
    const entity = { type, text: original, score, start, end, placeholder: placeholders.of(type, original) };
    const replacement = choice.replacer === undefined ? entity.placeholder : checkString(choice.replacer(entity), "The replacer's result");
    redacted.push({ ...entity, replacement });
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return { text: result + text.slice(at), entities: redacted, mapping: placeholders.mapping() };
}

function isWanted(type: string, text: string, score: number, { types, threshold = 0, rules = {} }: Choice): boolean {
  if (text === '' || score < threshold || (types !== undefined && !types.includes(type))) return false;
  const rule = Object.hasOwn(rules, type) ? rules[type] : undefined;
  if (rule === undefined) return true;
  return typeof rule === 'function' ? rule(text) : checksums[rule](text);
}

interface Found {
  type: string;
  score: number;
  start: number;
  end: number;
}

/** Entities without white space around them; those of one type that touch are one. */
function joined(text: string, entities: readonly EntityGroup[]): Found[] {
  const found: Found[] = [];
  for (const { entity_group: type, score, start, end } of entities) {
    const inner = text.slice(start, end);
    const from = start + inner.length - inner.trimStart().length;
    const to = end - (inner.length - inner.trimEnd().length);
    const before = found.at(-1);
    if (before !== undefined && before.type === type && before.end === from && start === from) {
      before.end = to;
      before.score = Math.min(before.score, score);
    } else if (to > from) {
      found.push({ type, score, start: from, end: to });
    }
  }
  return found;
}

/** Numbers what is found: the same text of a type gets the same placeholder, and none that stands in a text already. */
class Placeholders {
  private readonly byText_ = new Map<string, string>();
  private readonly texts_ = new Map<string, string>();
  private readonly counts_ = new Map<string, number>();

  constructor(
    mapping: Readonly<Record<string, string>> = {},
    private readonly inputs_: readonly { text: string }[],
  ) {
    for (const [placeholder, text] of Object.entries(mapping)) this.add(placeholder, placeholder.replace(/_\d+\]$/, ''), text);
  }

  of(type: string, text: string): string {
    const name = `[${type.toUpperCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_') || 'ENTITY'}`;
    const known = this.byText_.get(`${name} ${text}`);
    if (known !== undefined) return known;
    for (;;) {
      const count = (this.counts_.get(name) ?? 0) + 1;
      this.counts_.set(name, count);
      const placeholder = `${name}_${count}]`;
      if (this.texts_.has(placeholder) || this.inputs_.some((input) => input.text.includes(placeholder))) continue;
      this.add(placeholder, name, text);
      return placeholder;
    }
  }

  mapping(): Record<string, string> {
    return Object.fromEntries(this.texts_);
  }

  private add(placeholder: string, name: string, text: string): void {
    this.byText_.set(`${name} ${text}`, placeholder);
    this.texts_.set(placeholder, text);
  }
}
