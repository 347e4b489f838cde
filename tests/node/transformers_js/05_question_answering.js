import { pipeline } from '@huggingface/transformers';

const answerer = await pipeline('question-answering', 'user/reader');
const question = 'Who was Jim Henson?';
const context = 'Jim Henson was a nice puppet.';
const output = await answerer(question, context);
console.log(context.includes(output.answer), typeof output.score);

const several = await answerer(question, context, { top_k: 2 });
console.log(several.length);
await answerer.dispose();
// true number
// 2
