// The parts of a text that a model's tokenizer does not know, so the model cannot find names in them.
import type { TextRange } from '../redact/text_folding.js';
import type { UnreadRange } from '../redact/types.js';
import type { Encoding, PipelineTokenizer } from './tokenizer_calls.js';

/** Scripts other than Latin. Those in the second line write syllables or words with one letter. */
const kAlphabets =
  'Cyrillic Greek Armenian Georgian Arabic Hebrew Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Tibetan Mongolian';
const kSyllables = 'Han Hiragana Katakana Hangul Bopomofo Thai Lao Khmer Myanmar Ethiopic';

const kScripts = [kAlphabets, kSyllables].flatMap((names, line) =>
  names.split(' ').map((name) => ({
    words: new RegExp(`[\\p{Script=${name}}\\p{M}]+`, 'gu'),
    letter: new RegExp(`\\p{Script=${name}}`, 'u'),
    isAlphabet: line === 0,
  })),
);

/** A model whose tokens of an alphabet have fewer letters than this has learned no words in it. */
const kFewestLetters = 1.3;
/** If the tokenizer does not know this share of a script's tokens, the script counts as unknown. */
const kUnknownShare = 0.2;

/** Returns the unread parts of each text. */
export async function unreadIn(texts: readonly string[], tokenizer: PipelineTokenizer | undefined): Promise<UnreadRange[][]> {
  if (tokenizer === undefined) return texts.map(() => []);
  const unknown = new Set((await tokenizer.convert_tokens_to_ids(['[UNK]', '<unk>'])).filter((id) => id !== undefined));
  const encodings = await Promise.all(texts.map((text) => tokenizer.encode(text)));
  return texts.map((text, index) => {
    const tokens = tokensOf(encodings[index]!, unknown);
    const characters = tokens.filter(({ isUnknown, start, end }) => isUnknown && /[\p{L}\p{N}]/u.test(text.slice(start, end)));
    return [
      ...unknownScripts(text, tokens).map((range): UnreadRange => ({ ...range, reason: 'unknown_script' })),
      ...characters.map(({ start, end }): UnreadRange => ({ start, end, reason: 'unknown_characters' })),
    ];
  });
}

interface Token extends TextRange {
  isUnknown: boolean;
}

function tokensOf({ ids, offsets, special_tokens_mask }: Encoding, unknown: ReadonlySet<number | undefined>): Token[] {
  return offsets.flatMap(([start, end], token) =>
    special_tokens_mask[token] === 1 ? [] : [{ start, end, isUnknown: unknown.has(ids[token]!) }],
  );
}

/** Returns the words in scripts of which the tokenizer knows too little. */
function unknownScripts(text: string, tokens: readonly Token[]): TextRange[] {
  if (!/(?!\p{Script=Latin})\p{L}/u.test(text)) return [];
  return kScripts.flatMap(({ words, letter, isAlphabet }) => {
    if (!letter.test(text)) return [];
    const found = [...text.matchAll(words)]
      .map(({ 0: word, index }) => ({ start: index, end: index + word.length }))
      .filter(({ start, end }) => letter.test(text.slice(start, end)) && (!isAlphabet || end - start > 1));
    const inside = within(tokens, found);
    const letters = found.reduce((sum, { start, end }) => sum + end - start, 0);
    const unknown = inside.filter(({ isUnknown }) => isUnknown).length;
    const isKnown = unknown < kUnknownShare * inside.length && (!isAlphabet || letters >= kFewestLetters * inside.length);
    return isKnown ? [] : found;
  });
}

/** Returns the tokens that overlap the words. Both are in text order. */
function within(tokens: readonly Token[], words: readonly TextRange[]): Token[] {
  let next = 0;
  return tokens.filter(({ start, end }) => {
    while (next < words.length && words[next]!.end <= start) ++next;
    return next < words.length && words[next]!.start < end;
  });
}
