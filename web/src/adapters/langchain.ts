// peruse/langchain: embeddings and a reranker for LangChain.js. Requires @langchain/core.
import { Embeddings } from '@langchain/core/embeddings';
import type { TextRankingOptions } from '../tasks/text_ranking.js';
import { type Embed, type EmbeddingSettings, embedder, type Loading, whenUsed } from './embedder.js';

/** Embeddings for vector stores, from `pipeline('feature-extraction', ...)`. */
export class PeruseEmbeddings extends Embeddings {
  private readonly embed_: { documents: Embed; queries: Embed };

  constructor(pipeline: Loading<'feature-extraction'>, settings: EmbeddingSettings = {}) {
    super({});
    this.embed_ = embedder(pipeline, settings);
  }

  embedDocuments(documents: string[]): Promise<number[][]> {
    return this.embed_.documents(documents);
  }

  async embedQuery(document: string): Promise<number[]> {
    const [vector] = await this.embed_.queries([document]);
    return vector!;
  }
}

/** The members of a LangChain document that a reranker needs. */
export interface RankableDocument {
  pageContent: string;
  metadata: Record<string, unknown>;
}

/** Settings of PeruseReranker. */
export interface RerankerSettings {
  /** Maximum number of documents to keep. Default: all. */
  topN?: number;
  /** Options of every call of the pipeline. */
  options?: Omit<TextRankingOptions, 'return_documents' | 'signal' | 'top_k'>;
}

/** A document compressor (BaseDocumentCompressor of @langchain/core) that keeps the best documents, from `pipeline('text-ranking', ...)`. */
export class PeruseReranker {
  private readonly rank_: Promise<Awaited<Loading<'text-ranking'>>>;

  constructor(
    pipeline: Loading<'text-ranking'>,
    private readonly settings_: RerankerSettings = {},
  ) {
    this.rank_ = whenUsed(pipeline);
  }

  /** Returns the documents, best first. Their metadata has a `relevanceScore`; the given documents are unchanged. */
  async compressDocuments<D extends RankableDocument>(documents: D[], query: string): Promise<D[]> {
    const { topN, options } = this.settings_;
    const rank = await this.rank_;
    const texts = documents.map(({ pageContent }) => pageContent);
    const ranked = await rank(query, texts, { ...options, top_k: topN });
    return ranked.map(({ corpus_id, score }) => withScore(documents[corpus_id]!, score));
  }
}

/** A copy of the same class. */
function withScore<D extends RankableDocument>(document: D, relevanceScore: number): D {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(document)) as D, document);
  return Object.assign(copy, { metadata: { ...document.metadata, relevanceScore } });
}
