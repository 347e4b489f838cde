import type { Pipeline } from '../pipeline.js';
import type { FeatureExtractionOptions } from '../tasks/feature_extraction.js';
import type { Task } from '../tasks/tasks.js';

/** A pipeline, or the promise that `pipeline()` returns. */
export type Loading<T extends Task> = Pipeline<T> | Promise<Pipeline<T>>;

/** Options of feature extraction that return one vector of numbers for each text. */
export type EmbeddingOptions = Omit<FeatureExtractionOptions, 'pooling' | 'precision' | 'quantize' | 'signal' | 'top_k'> & {
  pooling?: Exclude<FeatureExtractionOptions['pooling'], 'none' | 'splade' | 'multi_vector'>;
};

/** How an adapter embeds texts. */
export interface EmbeddingSettings {
  /** Options for documents. `pooling` is 'sentence' by default: what the model's own files say. */
  document?: EmbeddingOptions;
  /** Options for queries, for example `{ prompt_name: 'query' }`. Default: those for documents. */
  query?: EmbeddingOptions;
}

/** Embeds texts: one vector for each, in order. */
export type Embed = (texts: readonly string[], more?: Pick<FeatureExtractionOptions, 'dimensions' | 'signal'>) => Promise<number[][]>;

export function embedder(
  loading: Loading<'feature-extraction'>,
  { document = {}, query = document }: EmbeddingSettings = {},
): { documents: Embed; queries: Embed } {
  const loaded = whenUsed(loading);
  const embed =
    (options: EmbeddingOptions): Embed =>
    async (texts, more = {}) => {
      const extract = await loaded;
      const rows = await extract(texts, { pooling: 'sentence', ...options, ...more });
      return rows.tolist();
    };
  return { documents: embed(document), queries: embed(query) };
}

/** A promise whose failure is reported by the first call that awaits it, and not as an unhandled rejection before. */
export function whenUsed<T>(loading: T | Promise<T>): Promise<T> {
  const loaded = Promise.resolve(loading);
  loaded.catch(() => {});
  return loaded;
}
