// The public types of redaction, and its options.
import { type CallOptions, type Given, option } from '../options.js';
import type { PatternFinder, PatternName } from './pattern_names.js';
import type { Restoration } from './placeholders.js';
import type { RedactionRule } from './private_details.js';
import type { TextRange } from './text_folding.js';

export type { PatternFinder, PatternMatch, PatternName } from './pattern_names.js';
export type { Restoration } from './placeholders.js';
export type { RedactionRule } from './private_details.js';
export type { TextRange } from './text_folding.js';

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
 * texts are normalised copies; a text with encodings has two (docs/tasks/redact.md, "Unusual spelling").
 */
export type DetailFinder = (
  texts: readonly string[],
  options: { signal?: AbortSignal },
) => readonly (readonly FoundDetail[])[] | Promise<readonly (readonly FoundDetail[])[]>;

export const kFinderOptions = {
  /** Find details by these patterns, without the model: names, or your own; true means all names. Default false. */
  patterns: option<boolean | readonly (PatternName | PatternFinder)[]>({ kind: 'other', default: false }),
  /** Further finders, for example a second model. */
  finders: option<readonly DetailFinder[]>({ kind: 'other', default: 'none' }),
  /** Throw 'unsupported' if a part of a text is unread. Also replaces every other occurrence of a found detail. Default false. */
  fail_closed: option({ kind: 'boolean', default: false }),
};

export const kLabelsOption = {
  /** For a GLiNER model: the labels of the details to find, for example 'person' and 'street address'. */
  labels: option<string | readonly string[]>({ kind: 'other' }),
};

/** The options of token classifiers only. */
export const kTaggerOptions = {
  /**
   * Replace a token if the probability of its label 'O' (not private) is below this value, 0 to 1. Higher values find more details and cause
   * more false alarms. With 0 (default), the label with the highest probability decides.
   */
  recall: option({
    kind: 'number',
    default: 0,
    flag: { help: 'replace tokens whose probability of being not private is below n: finds more (0)' },
  }),
  /** How to join tokens to entities (as for token-classification). Default 'average', which replaces whole words. */
  aggregation_strategy: option({
    kind: ['simple', 'first', 'max', 'average'],
    default: 'average',
    flag: { name: 'aggregation', help: 'how tokens become entities (average)' },
  }),
  /** Number of tokens that neighbouring windows of a long text share. Default: 64, but at most a quarter of the window. */
  stride: option({ kind: 'number', default: 64 }),
  /** Number of tokens in a window. Default: the model's limit, at most 512. */
  max_length: option({ kind: 'number', default: "the model's, at most 512" }),
};

export const kRedactOptions = {
  /**
   * The types to replace, as the model names them, for example 'EMAIL'. Default: all except dates, times, amounts, measures, events and the
   * names of products and works.
   */
  types: option<readonly string[]>({ kind: 'other', default: 'all private ones' }),
  /** Minimum score of a detail. Default 0; with a GLiNER model 0.5. */
  threshold: option({ kind: 'number', default: 0, flag: { help: 'do not replace entities with a lower score (0; with --labels 0.5)' } }),
  /** Returns the replacement of an entity. Default: its placeholder, for example '[EMAIL_1]'. */
  replacer: option<(entity: FoundEntity) => string>({ kind: 'other', default: 'the placeholder' }),
  /**
   * A check for each type; entities that fail it are not replaced. 'luhn' (cards) and 'iban' verify check digits; a function returns whether
   * the text has the type.
   */
  rules: option<Readonly<Record<string, RedactionRule>>>({ kind: 'other', default: 'none' }),
  /** The `mapping` of earlier calls: equal texts get the same placeholder. Such a placeholder that occurs in a text is itself replaced. */
  mapping: option<Readonly<Record<string, string>>>({ kind: 'other', default: 'none' }),
  ...kFinderOptions,
  ...kTaggerOptions,
};

/** How to find details. Options of a call replace those of `pipeline('redact', ...)` and `createRedactor()`. */
export interface RedactFinders extends Given<typeof kFinderOptions> {}

/** Options of `pipeline('redact', ...)`. */
export interface RedactPipelineOptions extends RedactFinders, Given<typeof kLabelsOption> {}

/** Options of redaction. */
export interface RedactOptions extends CallOptions, Given<typeof kRedactOptions> {}

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

/** A part of a text that no model has read, so names in it are not found. UTF-16 indices into the caller's text. */
export interface UnreadRange extends TextRange {
  /**
   * 'unknown_characters': the model's tokenizer does not know these letters or digits. 'unknown_script': it knows the script's letters one by
   * one, but no words of it. 'lone_surrogate': half of a character.
   */
  reason: 'unknown_characters' | 'unknown_script' | 'lone_surrogate';
}

/** A redacted text. */
export interface Redaction {
  text: string;
  entities: RedactedEntity[];
  /** The parts that could not be read and were not replaced, in text order. Empty if everything was read. */
  unread: UnreadRange[];
  /** The original text of each placeholder of all texts of the call and of `options.mapping`. Frozen. */
  readonly mapping: Readonly<Record<string, string>>;
}

/** One result for one text, a list for a list. */
export type RedactionOf<I> = I extends readonly unknown[] ? Redaction[] : Redaction;

/** The call of redaction. */
export interface RedactCall {
  /** Replaces private details by placeholders: `redact(text)`, or `redact([text, ...])`. Long texts are read in windows. */
  <I extends string | readonly string[]>(texts: I, options?: RedactOptions): Promise<RedactionOf<I>>;
  /** Starts a conversation: equal words of a type get the same placeholder in all its texts, in any letter case. */
  session(options?: SessionOptions): RedactionSession;
}

/** Options of a session: the `mapping` of an earlier session continues it. */
export type SessionOptions = Pick<RedactOptions, 'mapping'>;

/** A conversation with common placeholders. */
export interface RedactionSession {
  /** Redacts texts, like the pipeline. */
  redact<I extends string | readonly string[]>(texts: I, options?: Omit<RedactOptions, 'mapping'>): Promise<RedactionOf<I>>;
  /** Restores the details of all texts of the session, and reports unknown placeholders. */
  restore(text: string): Restoration;
  /**
   * Redacts a text that arrives in pieces. A text of up to 4,096 characters is redacted when it is complete; of a longer one, parts follow
   * that end where a sentence or line ends. The result does not depend on where the pieces begin.
   */
  redactStream(options?: Omit<RedactOptions, 'mapping'>): TransformStream<string, string>;
  /** Restores the details of a text that arrives in pieces. Holds back what may be the beginning of a placeholder. */
  restoreStream(): TransformStream<string, string>;
  /** The original text of each placeholder. Store it to continue the session later. */
  readonly mapping: Readonly<Record<string, string>>;
}
