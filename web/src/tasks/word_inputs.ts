// Words of a text: a caller may give a list of words instead of a text, or choose what is a word.
import { PeruseError, show } from '../errors.js';
import { type Given, option, type Schema } from '../options.js';
import { asList, checkString, checkStrings, type EngineInput, nameOf } from './call.js';

export const kSplitWordsOption = {
  /** Each input is a list of words instead of a text, and results have `word_start` and `word_end`. */
  is_split_into_words: option({ kind: 'boolean', default: false }),
};

export const kWordsOption = {
  /**
   * The rule that splits texts into words: 'whitespace' (default), which models were trained with; 'char', which makes a word of each character
   * outside of Latin words and numbers, for Chinese and Japanese; or an `Intl.Segmenter` with `granularity: 'word'`.
   */
  words: option<'whitespace' | 'char' | Intl.Segmenter>({ kind: 'other', default: "`'whitespace'`" }),
};

/** Where an item is in a list of words, with `is_split_into_words`. */
export interface WordPlace {
  /** Number of the first word. Only with `is_split_into_words`. */
  word_start?: number;
  /** One more than the number of the last word, as for `slice`. Only with `is_split_into_words`. */
  word_end?: number;
}

/** One result for one text, a list for a list. With `is_split_into_words`, a list of words is one text. */
export type OneOrManyTexts<I, O, R> = O extends { is_split_into_words: true }
  ? I extends readonly string[]
    ? R
    : R[]
  : I extends readonly unknown[]
    ? R[]
    : R;

type WordOptions = Given<typeof kSplitWordsOption> & Given<typeof kWordsOption>;
type Found = { start: number; end: number } & WordPlace;

/** The inputs of a call, whose words may be split. */
export interface WordInputs {
  inputs: EngineInput[];
  isList: boolean;
  /** The options without those of words. */
  rest: Record<string, unknown>;
  /** Adds the numbers of words to the items of the results, if the inputs were lists of words. */
  place(results: readonly unknown[]): unknown[];
}

/** gliner2's CharLevelSplitter: the white space is Python's. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python's white space has them
const kCharWords = /[A-Za-z0-9@._\-+]+|[^\s\x1c-\x1f\x85]|\ufeff/gu;

/** Reads a call's inputs and its options of words. `known`: the options of the task. */
export function wordInputs(known: Schema, given: unknown, options: object): WordInputs {
  if (typeof options !== 'object' || options === null) {
    throw new PeruseError('invalid_argument', `Options must be an object, not ${nameOf(options)}.`);
  }
  const rest: Record<string, unknown> = { ...options };
  const take = <N extends keyof WordOptions>(name: N): WordOptions[N] => {
    if (!Object.hasOwn(known, name)) return undefined;
    const value = rest[name] as WordOptions[N];
    delete rest[name];
    return value;
  };
  const isSplit = take('is_split_into_words') ?? false;
  const words = take('words') ?? 'whitespace';
  if (typeof isSplit !== 'boolean') {
    throw new PeruseError('invalid_argument', `is_split_into_words must be true or false, not ${show(isSplit)}.`);
  }
  if (!isSplit) {
    const inputs = asList(given).map((text, index) => splitText(checkString(text, `Input ${index}`), words));
    return { inputs, isList: Array.isArray(given), rest, place: (results) => [...results] };
  }
  if (words !== 'whitespace') throw new PeruseError('invalid_argument', 'is_split_into_words and words exclude each other.');
  if (!Array.isArray(given)) {
    throw new PeruseError('invalid_argument', `With is_split_into_words, the input must be a list of words, not ${nameOf(given)}.`);
  }
  const isList = given.length > 0 && given.every(Array.isArray);
  const inputs = (isList ? (given as unknown[]) : [given]).map((list, index) => joined(checkStrings(list, `input ${index}`)));
  const place = (results: readonly unknown[]) =>
    results.map((items, index) => (items as Found[]).map((item) => ({ ...item, ...placeOf(item, inputs[index]!.words) })));
  return { inputs, isList, rest, place };
}

function splitText(text: string, words: unknown): EngineInput {
  if (words === 'whitespace') return { text };
  const spans: number[] = [];
  if (words === 'char') {
    for (const match of text.matchAll(kCharWords)) spans.push(match.index, match.index + match[0].length);
  } else if (isSegmenter(words)) {
    for (const { segment, index } of words.segment(text)) {
      if (segment.trim() !== '') spans.push(index, index + segment.length);
    }
  } else {
    throw new PeruseError('invalid_argument', `words must be 'whitespace', 'char' or an Intl.Segmenter of words, not ${show(words)}.`);
  }
  return { text, words: spans };
}

function isSegmenter(words: unknown): words is Intl.Segmenter {
  return typeof Intl.Segmenter === 'function' && words instanceof Intl.Segmenter && words.resolvedOptions().granularity === 'word';
}

/** The words with a space between them, as in transformers. */
function joined(list: readonly string[]): { text: string; words: number[] } {
  const words: number[] = [];
  let start = 0;
  for (const word of list) {
    words.push(start, start + word.length);
    start += word.length + 1;
  }
  return { text: list.join(' '), words };
}

/** The words that a part of the joined text touches. */
function placeOf({ start, end }: Found, words: readonly number[]): Required<WordPlace> {
  const word_start = countWhile(words.length / 2, (word) => words[2 * word + 1]! <= start);
  return {
    word_start,
    word_end: Math.max(
      word_start,
      countWhile(words.length / 2, (word) => words[2 * word]! < end),
    ),
  };
}

/** The number of words before the first one for which `holds` is false; it is true for all words before. */
function countWhile(count: number, holds: (word: number) => boolean): number {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
