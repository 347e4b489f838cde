import { AutoModelForSequenceClassification, AutoTokenizer } from '@huggingface/transformers';

const model = await AutoModelForSequenceClassification.from_pretrained('user/ranker');
const tokenizer = await AutoTokenizer.from_pretrained('user/ranker');

async function rank(query, documents) {
  const inputs = tokenizer(new Array(documents.length).fill(query), { text_pair: documents, padding: true, truncation: true });
  const { logits } = await model(inputs);
  return logits
    .sigmoid()
    .tolist()
    .map(([score], corpus_id) => ({ corpus_id, score, text: documents[corpus_id] }))
    .sort((a, b) => b.score - a.score);
}

const documents = ['The bees live in a hollow oak.', 'The film is too long.', 'Anna lives in Thun.'];
const results = await rank('Where do the bees live?', documents);
console.log(results.length, results.every(({ score, text, corpus_id }) => score > 0 && score < 1 && text === documents[corpus_id]));
console.log(results[0].score >= results[2].score);
// 3 true
// true
