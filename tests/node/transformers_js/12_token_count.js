import { AutoTokenizer, pipeline } from '@huggingface/transformers';

const extractor = await pipeline('feature-extraction', 'user/embedder');
const tokenizer = await AutoTokenizer.from_pretrained('user/embedder');

// Counts of tokens, for limits and prices, without waiting.
const count = (text) => extractor.tokenizer.encode(text).length;
const text = 'Fry the onions in butter, and serve the soup hot.';
const { input_ids } = extractor.tokenizer(text);
console.log(count(text) === tokenizer.encode(text).length, input_ids.size === count(text), count('') < count('a'));

// Chunks of at most so many tokens.
const chunks = [];
for (const word of text.split(' ')) {
  const longer = [chunks.at(-1), word].filter(Boolean).join(' ');
  if (chunks.length > 0 && count(longer) <= 8) chunks[chunks.length - 1] = longer;
  else chunks.push(word);
}
console.log(chunks.join(' ') === text, chunks.length > 1);
await extractor.dispose();
// true true true
// true true
