// Says what was cut of texts that are too long.
import type { TextInput } from './definition.js';
import type { PipelineTokenizer } from './tokenizer_calls.js';

/** No tokenizer makes more tokens of a UTF-16 unit. */
const kTokensPerUnit = 4;

/** Returns a sentence about the tokens that were left out. */
export async function describeCuts(inputs: readonly TextInput[], tokenizer: PipelineTokenizer): Promise<string> {
  const lengthOf = ({ text, text_pair = '' }: TextInput) => text.length + text_pair.length;
  const longest = inputs.reduce((most, input) => (lengthOf(input) > lengthOf(most) ? input : most));
  const pairOf = ({ text_pair }: TextInput) => (text_pair === undefined ? {} : { text_pair });
  const kept = (await tokenizer.encode(longest.text, { ...pairOf(longest), truncation: true })).ids.length;
  const cuts: { index: number; tokens: number }[] = [];
  for (const [index, input] of inputs.entries()) {
    if (kTokensPerUnit * lengthOf(input) <= kept) continue;
    const tokens = await tokenizer.count(input.text, pairOf(input));
    if (tokens > kept) cuts.push({ index, tokens });
  }
  const all = cuts.map(({ index, tokens }) => `input ${index} lost ${tokens - kept} of its ${tokens} tokens`);
  const named = all.slice(0, 3).join(', ');
  const words = all.length > 3 ? `${named} and ${all.length - 3} others were cut, too` : named;
  return `The model reads ${kept} tokens: ${words}. Pass truncation: true to cut texts without a notice, or false to get an error.`;
}
