// Members of pipelines, and notices about texts, that load on use (web/bundle/peruse-extras.js in pages).
import { type EngineInput, hasBlank } from './tasks/call.js';
import type { TextInput } from './tasks/definition.js';
import type { PipelineTokenizer } from './tasks/tokenizer_calls.js';

export { explain } from './tasks/explain.js';
export { streamOf } from './tasks/stream.js';

/** Returns a sentence about inputs without text, of which there is at least one. */
export function describeBlank(inputs: readonly EngineInput[]): string {
  const blank = inputs.flatMap((input, index) => (hasBlank(input) ? [index] : []));
  const one = blank.length === 1;
  const named = `${one ? 'Input' : 'Inputs'} ${blank.slice(0, 3).join(', ')}${blank.length > 3 ? ` and ${blank.length - 3} more` : ''}`;
  return `${named} ${one ? 'is' : 'are'} empty or only white space: the ${one ? 'result says' : 'results say'} nothing about a text.`;
}

/** Returns a sentence about the tokens that were left out. At least one of the texts was cut. */
export async function describeCuts(inputs: readonly TextInput[], tokenizer: PipelineTokenizer): Promise<string> {
  const pairOf = ({ text_pair }: TextInput) => (text_pair === undefined ? {} : { text_pair });
  const counts = await Promise.all(inputs.map((input) => tokenizer.count(input.text, pairOf(input))));
  const longest = inputs[counts.reduce((most, tokens, index) => (tokens > counts[most]! ? index : most), 0)]!;
  const kept = (await tokenizer.encode(longest.text, { ...pairOf(longest), truncation: true })).ids.length;
  const all = counts.flatMap((tokens, index) => (tokens > kept ? `input ${index} lost ${tokens - kept} of its ${tokens} tokens` : []));
  const named = all.slice(0, 3).join(', ');
  const words = all.length > 3 ? `${named} and ${all.length - 3} others were cut, too` : named;
  return `The model reads ${kept} tokens: ${words}. Pass truncation: true to cut texts without a notice, or false to get an error.`;
}
