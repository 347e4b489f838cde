import { AutoModel, AutoTokenizer, cos_sim, mean_pooling, pipeline } from '@huggingface/transformers';

const model_id = 'user/embedder';
const tokenizer = await AutoTokenizer.from_pretrained(model_id);
const model = await AutoModel.from_pretrained(model_id);

const sentences = ['Fry the onions in butter.', 'Serve.'];
const inputs = tokenizer(sentences, { padding: true, truncation: true });
const { last_hidden_state } = await model(inputs);
const embeddings = mean_pooling(last_hidden_state, inputs.attention_mask).normalize(2, -1).tolist();

const extractor = await pipeline('feature-extraction', model_id);
const expected = (await extractor(sentences, { pooling: 'mean', normalize: true })).tolist();
console.log(embeddings.every((row, i) => Math.abs(cos_sim(row, expected[i]) - 1) < 1e-5));
// true
