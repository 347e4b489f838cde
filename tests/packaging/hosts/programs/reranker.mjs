// Ranks documents by the logits of a cross-encoder, in a program that imports transformers.js by its name.
import { AutoModelForSequenceClassification, AutoTokenizer } from '@huggingface/transformers';

const tokenizer = await AutoTokenizer.from_pretrained('./models/ranker');
const model = await AutoModelForSequenceClassification.from_pretrained('./models/ranker');
const documents = ['Fry the onions in butter.', 'The train leaves at nine.', 'Soup.'];
const inputs = tokenizer(Array(documents.length).fill('When does the train leave?'), {
  text_pair: documents,
  padding: true,
  truncation: true,
});
const { logits } = await model(inputs);
const scores = logits.sigmoid().tolist().flat();
const alone = await model(tokenizer('When does the train leave?', { text_pair: documents[2] }));
console.log(
  logits.dims.join(),
  scores.every((one) => one > 0 && one < 1),
  Math.abs(alone.logits.data[0] - logits.data[2]) < 1e-4,
);
await model.dispose();
