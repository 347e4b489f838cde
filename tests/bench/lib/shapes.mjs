import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../shapes/', import.meta.url);

/** Shapes for which the project has speed goals (bars). */
export const kBarShapes = ['convbert_small', 'convbert_base', 'deberta_v3_xsmall', 'deberta_v3_small', 'deberta_v3_base'];
/** A shape whose weights are published ones (published_checkpoint.mjs), with their whole vocabulary. */
export const kPublishedShape = 'all_minilm_l6_v2';
export const kShapes = [...kBarShapes, 'minilm', kPublishedShape, 'bert_base', 'ettin_32m', 'modernbert_base'];
/** Shapes that are measured only where --shapes names them: their weights take gigabytes, and transformers 5 exports them. */
export const kLargeShapes = ['eurobert_210m', 'embeddinggemma_300m', 'qwen3_embedding_0_6b'];

/** Vocabulary of timed models: a call reads one row of the embeddings for each token, whatever the vocabulary. */
const kTimedVocabulary = 4096;

export function shapeConfig(name, { timed = false } = {}) {
  if (!readdirSync(folder).includes(`${name}.json`))
    throw new Error(`no shape '${name}'; there are ${[...kShapes, ...kLargeShapes].join(', ')}`);
  const config = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
  return timed && name !== kPublishedShape ? { ...config, vocab_size: Math.min(config.vocab_size, kTimedVocabulary) } : config;
}

/** Batches of several texts, by their lengths. */
const kBatches = {
  ragged: [7, 31, 12, 48, 19, 64, 25, 9],
  many: Array.from({ length: 64 }, (_, i) => 8 + ((i * 13) % 33)), // 8 to 40 tokens, in no order
  windows: Array(20).fill(384), // of a question over a long passage
};

/** Returns one text of the given number of tokens ('128'), or a batch of kBatches. Token ids are the same at every call. */
export function batchOf(name) {
  return textsOf(kBatches[name] ?? [Number(name)]);
}

export function comparedTexts() {
  return textsOf(Array(24).fill(64));
}

function textsOf(lengths) {
  let state = 12345;
  const id = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return 5 + ((state >>> 8) % (kTimedVocabulary - 5));
  };
  return lengths.map((length) => Array.from({ length }, id));
}

export function tokensOf(name) {
  return batchOf(name).reduce((sum, text) => sum + text.length, 0);
}
