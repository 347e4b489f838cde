// peruse/ai-sdk: embedding and reranking models and redaction for the AI SDK (the package `ai`), versions 4 to 7.
import type { Pipeline } from '../pipeline.js';
import type { PipelineOptions, PipelineOptionsOf } from '../pipeline_options.js';
import type { TextRankingOptions } from '../tasks/text_ranking.js';
import { type EmbeddingSettings, embedder, type Loading, whenUsed } from './embedder.js';

export { type RedactMiddleware, type RedactMiddlewareSettings, redactMiddleware } from './redact_middleware.js';

/** The specification of models: 'v1' of AI SDK 4, 'v2' of 5, 'v3' of 6, 'v4' of 7. */
export type Specification = 'v1' | 'v2' | 'v3' | 'v4';

interface Described<V extends Specification> {
  /** The specification of your version of the AI SDK. Default 'v3', which AI SDK 6 and 7 accept. */
  specificationVersion?: V;
  /** The name of the model in telemetry. Default 'peruse'. */
  modelId?: string;
}

/** Settings of embeddingModel(). */
export interface EmbeddingModelSettings<V extends Specification> extends Omit<EmbeddingSettings, 'query'>, Described<V> {}

/** An embedding model of the AI SDK, for embed() and embedMany(). */
export interface EmbeddingModel<V extends Specification = 'v3'> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: undefined;
  readonly supportsParallelCalls: boolean;
  doEmbed(options: { values: string[]; dimensions?: number; abortSignal?: AbortSignal }): Promise<{
    embeddings: number[][];
    /** Tokens of the values, without a prompt. */
    usage: { tokens: number };
    warnings: [];
  }>;
}

/** Creates an embedding model from `pipeline('feature-extraction', ...)`. */
export function embeddingModel<V extends Specification = 'v3'>(
  pipeline: Loading<'feature-extraction'>,
  { specificationVersion = 'v3' as V, modelId = 'peruse', document }: EmbeddingModelSettings<V> = {},
): EmbeddingModel<V> {
  const loaded = whenUsed(pipeline);
  const { documents } = embedder(loaded, { document });
  return {
    specificationVersion,
    provider: 'peruse',
    modelId,
    maxEmbeddingsPerCall: undefined,
    supportsParallelCalls: false,
    doEmbed: async ({ values, dimensions, abortSignal: signal }) => ({
      embeddings: await documents(values, dimensions === undefined ? { signal } : { dimensions, signal }),
      usage: { tokens: await tokensOf(values, (await loaded).tokenizer) },
      warnings: [],
    }),
  };
}

async function tokensOf(values: readonly string[], { count }: { count(text: string): Promise<number> }): Promise<number> {
  const counts = await Promise.all(values.map((value) => count(value)));
  return counts.reduce((sum, tokens) => sum + tokens, 0);
}

/** Settings of rerankingModel(). */
export interface RerankingModelSettings<V extends Specification> extends Described<V> {
  /** Options of every call of the pipeline. */
  options?: Omit<TextRankingOptions, 'return_documents' | 'signal' | 'top_k'>;
}

/** A warning of the AI SDK: the call did something in its place. */
export interface CompatibilityWarning {
  type: 'compatibility';
  feature: string;
  details: string;
}

/** A reranking model of the AI SDK, for rerank(). */
export interface RerankingModel<V extends Specification = 'v3'> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  doRerank(options: {
    documents: { type: 'text'; values: string[] } | { type: 'object'; values: object[] };
    query: string;
    topN?: number;
    abortSignal?: AbortSignal;
  }): Promise<{ ranking: { index: number; relevanceScore: number }[]; warnings: CompatibilityWarning[] }>;
}

const kObjects: CompatibilityWarning = {
  type: 'compatibility',
  feature: 'object documents',
  details: 'The model reads each object as JSON text.',
};

/** Creates a reranking model from `pipeline('text-ranking', ...)`, for AI SDK 6 and 7. */
export function rerankingModel<V extends 'v3' | 'v4' = 'v3'>(
  pipeline: Loading<'text-ranking'>,
  { specificationVersion = 'v3' as V, modelId = 'peruse', options = {} }: RerankingModelSettings<V> = {},
): RerankingModel<V> {
  const loaded = whenUsed(pipeline);
  return {
    specificationVersion,
    provider: 'peruse',
    modelId,
    doRerank: async ({ documents, query, topN, abortSignal: signal }) => {
      const texts = documents.type === 'text' ? documents.values : documents.values.map((value) => JSON.stringify(value));
      const rank = await loaded;
      const ranked = await rank(query, texts, { ...options, top_k: topN, signal });
      const ranking = ranked.map(({ corpus_id: index, score: relevanceScore }) => ({ index, relevanceScore }));
      return { ranking, warnings: documents.type === 'text' ? [] : [kObjects] };
    },
  };
}

/** A provider of models by their ids. A model begins to load when it is named, and is loaded once. */
export interface PeruseProvider<V extends Specification = 'v3'> {
  embeddingModel(modelId: string, settings?: Omit<EmbeddingModelSettings<V>, 'modelId' | 'specificationVersion'>): EmbeddingModel<V>;
  /** The same, by its name in AI SDK 4 and 5. */
  textEmbeddingModel(modelId: string, settings?: Omit<EmbeddingModelSettings<V>, 'modelId' | 'specificationVersion'>): EmbeddingModel<V>;
  /** For AI SDK 6 and 7. */
  rerankingModel(modelId: string, settings?: Pick<RerankingModelSettings<V>, 'options'>): RerankingModel<V>;
  /** Frees all models of the provider. */
  dispose(): Promise<void>;
}

/** Settings of createPeruse(). */
export interface PeruseProviderSettings<V extends Specification> {
  /** The specification of your version of the AI SDK. Default 'v3', which AI SDK 6 and 7 accept. */
  specificationVersion?: V;
  /** Options of all loads, for example `{ dtype: 'q8' }`. */
  load?: PipelineOptions;
}

/** Creates a provider: `createPeruse().embeddingModel('sentence-transformers/all-MiniLM-L6-v2')`. */
export function createPeruse<V extends Specification = 'v3'>({
  specificationVersion = 'v3' as V,
  load = {},
}: PeruseProviderSettings<V> = {}): PeruseProvider<V> {
  const loaded = new Map<string, Promise<{ dispose(): Promise<void> }>>();
  const loading = <T extends 'feature-extraction' | 'text-ranking'>(task: T, modelId: string): Promise<Pipeline<T>> => {
    const key = `${task} ${modelId}`;
    const one = loaded.get(key) ?? import('peruse').then(({ pipeline }) => pipeline(task, modelId, load as PipelineOptionsOf<T>));
    loaded.set(key, one);
    one.catch(() => loaded.delete(key)); // naming the model again tries again
    return one as unknown as Promise<Pipeline<T>>;
  };
  const embedding: PeruseProvider<V>['embeddingModel'] = (modelId, settings) =>
    embeddingModel(loading('feature-extraction', modelId), { ...settings, specificationVersion, modelId });
  return {
    embeddingModel: embedding,
    textEmbeddingModel: embedding,
    rerankingModel: (modelId, settings) =>
      rerankingModel<'v3'>(loading('text-ranking', modelId), {
        ...settings,
        specificationVersion: specificationVersion as 'v3',
        modelId,
      }) as unknown as RerankingModel<V>,
    async dispose() {
      const all = await Promise.allSettled(loaded.values());
      loaded.clear();
      await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.dispose() : undefined)));
    },
  };
}
