// peruse/ai-sdk: embedding and reranking models and redaction for the AI SDK (the package `ai`), versions 4 to 7.
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
    warnings: [];
  }>;
}

/** Creates an embedding model from `pipeline('feature-extraction', ...)`. */
export function embeddingModel<V extends Specification = 'v3'>(
  pipeline: Loading<'feature-extraction'>,
  { specificationVersion = 'v3' as V, modelId = 'peruse', document }: EmbeddingModelSettings<V> = {},
): EmbeddingModel<V> {
  const { documents } = embedder(pipeline, { document });
  return {
    specificationVersion,
    provider: 'peruse',
    modelId,
    maxEmbeddingsPerCall: undefined,
    supportsParallelCalls: false,
    doEmbed: async ({ values, dimensions, abortSignal: signal }) => ({
      embeddings: await documents(values, dimensions === undefined ? { signal } : { dimensions, signal }),
      warnings: [],
    }),
  };
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
