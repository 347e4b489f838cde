// Counts the tokens of texts before they are sent anywhere.
import { pipeline } from 'peruse';
import { Tokenizer } from 'peruse/tokenizer';

const tokenizer = await Tokenizer.from_pretrained('./models/sentiment');
const text = 'A gem of a film.';
const classifier = await pipeline('text-classification', './models/sentiment');
console.log(
  tokenizer.count(text),
  tokenizer.count(text) === tokenizer.encode(text).ids.length,
  tokenizer.decode(tokenizer.encode(text).ids, { skip_special_tokens: true }),
);
await classifier.dispose();
