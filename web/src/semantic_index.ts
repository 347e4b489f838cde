// Semantic search: texts as vectors, and the nearest of them to a query.
import { PeruseError, show } from './errors.js';
import type { CallOptions } from './tasks/call.js';
import type { FeatureExtractionCall, FeatureExtractionOptions } from './tasks/feature_extraction.js';
import { kVectorSearch, type VectorSearch } from './tasks/vector_search.js';

/** What SemanticIndex takes of a pipeline for feature-extraction. */
export type Embedder = FeatureExtractionCall & { readonly [kVectorSearch]: VectorSearch };

/** How texts become vectors: as feature-extraction's options of these names. */
export type EmbedOptions = Pick<FeatureExtractionOptions, 'pooling' | 'prompt' | 'prompt_name' | 'truncation'>;

/** What an index is made of, and how it compares. */
export interface SemanticIndexOptions {
  /** Vectors that were stored: `vectors` of an earlier index, as it was made with the same model and options. */
  vectors?: Float32Array;
  /** Keep the first so many numbers of each vector (Matryoshka). */
  dimensions?: number;
  /** 'cosine' (the default): of the angle between two vectors; 'dot': their product. */
  similarity?: 'cosine' | 'dot';
}

/** One search: how many to find, and how the query becomes a vector. */
export interface SearchOptions extends EmbedOptions, CallOptions {
  /** How many to find. Default 10. */
  top_k?: number;
}

/** A text that was found: the number under which it was added, and how near it is. */
export interface SearchHit {
  index: number;
  score: number;
}

const kTextsAtOnce = 64;
let indexes = 0;

/**
 * Vectors of texts, to be searched:
 *
 *     const index = new SemanticIndex(await pipeline('feature-extraction', 'user/embedder'));
 *     await index.add(texts, { prompt_name: 'passage' });
 *     await index.search('a question', { top_k: 3, prompt_name: 'query' });   // [{ index, score }, ...]
 *
 * The vectors are one Float32Array, which can be stored, and given to a new index.
 */
export class SemanticIndex {
  private readonly number_ = ++indexes;
  private vectors_ = new Float32Array(0); // with room at its end
  private used_ = 0; // numbers
  private width_: number | undefined;
  private sent_ = false;
  private readonly fixed_: FeatureExtractionOptions;

  constructor(
    private readonly embed_: Embedder,
    options: SemanticIndexOptions = {},
  ) {
    if (typeof embed_ !== 'function' || embed_[kVectorSearch] === undefined) {
      throw new PeruseError('invalid_argument', `A semantic index needs a pipeline for feature-extraction, not ${show(embed_)}.`);
    }
    const { vectors, dimensions, similarity = 'cosine' } = options;
    if (similarity !== 'cosine' && similarity !== 'dot') {
      throw new PeruseError('invalid_argument', `similarity must be 'cosine' or 'dot', not ${show(similarity)}.`);
    }
    this.fixed_ = { ...(dimensions === undefined ? {} : { dimensions }), normalize: similarity === 'cosine' };
    if (vectors === undefined) return;
    if (!(vectors instanceof Float32Array)) {
      throw new PeruseError('invalid_argument', `vectors must be a Float32Array, not ${show(vectors)}.`);
    }
    this.vectors_ = vectors.slice();
    this.used_ = vectors.length;
    if (dimensions !== undefined && dimensions > 0 && vectors.length % dimensions === 0) this.width_ = dimensions;
  }

  /** Texts that it holds. Of stored vectors it is known after the first search or addition, if `dimensions` does not say it: 0 before. */
  get size(): number {
    return this.width_ === undefined ? 0 : this.used_ / this.width_;
  }

  /** Their vectors, row by row: a copy. */
  get vectors(): Float32Array {
    return this.vectors_.slice(0, this.used_);
  }

  /** Adds texts, which get the numbers from `size` on. */
  async add(texts: readonly string[], options: EmbedOptions & CallOptions = {}): Promise<void> {
    if (!Array.isArray(texts)) throw new PeruseError('invalid_argument', `Texts must be a list, not ${show(texts)}.`);
    for (let at = 0; at < texts.length; at += kTextsAtOnce) {
      const found = await this.embed(texts.slice(at, at + kTextsAtOnce), options);
      for (const vector of found) this.append(vector);
    }
  }

  /** The texts that are nearest to `query`, the nearest first. */
  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    const { top_k = 10, ...rest } = options;
    if (!Number.isSafeInteger(top_k) || top_k < 1) {
      throw new PeruseError('invalid_argument', `top_k must be a whole number from 1 on, not ${show(top_k)}.`);
    }
    const [vector] = await this.embed([query], rest);
    if (this.used_ === 0) return [];
    const hits = await this.nearest(vector!, Math.min(top_k, this.size));
    return hits.map(({ row, score }) => ({ index: row, score }));
  }

  /** Gives the engine's memory back; the vectors stay, and a search sends them again. */
  async release(): Promise<void> {
    this.sent_ = false;
    await this.embed_[kVectorSearch].set({ index: this.number_, width: 1, data: new Float32Array(0) });
  }

  private async embed(texts: readonly string[], { pooling = 'sentence', ...options }: EmbedOptions & CallOptions): Promise<Float32Array[]> {
    if ((pooling as string) === 'none') throw new PeruseError('invalid_argument', "A semantic index can't do with pooling 'none'.");
    const found = await this.embed_(texts, { ...options, pooling, ...this.fixed_ });
    return found.map(({ data }) => this.fitting(data));
  }

  private fitting(vector: Float32Array): Float32Array {
    if (this.width_ === undefined && this.used_ % vector.length === 0) this.width_ = vector.length;
    if (this.width_ === vector.length) return vector;
    throw new PeruseError(
      'invalid_argument',
      this.width_ === undefined
        ? `vectors holds ${this.used_} numbers, which are no rows of ${vector.length}.`
        : `A vector of ${vector.length} numbers does not go with those of ${this.width_}.`,
    );
  }

  private append(vector: Float32Array): void {
    if (this.used_ + vector.length > this.vectors_.length) {
      const larger = new Float32Array(Math.max(2 * this.vectors_.length, this.used_ + vector.length, 64 * vector.length));
      larger.set(this.vectors_.subarray(0, this.used_));
      this.vectors_ = larger;
    }
    this.vectors_.set(vector, this.used_);
    this.used_ += vector.length;
    this.sent_ = false;
  }

  /** The engine gets the rows with the first search after they changed, and again if it lost them. */
  private async nearest(query: Float32Array, top_k: number) {
    const search = this.embed_[kVectorSearch];
    const request = { index: this.number_, query, top_k };
    const found = this.sent_ ? await search.nearest(request) : null;
    if (found !== null) return found;
    await search.set({ index: this.number_, width: this.width_!, data: this.vectors });
    this.sent_ = true;
    const again = await search.nearest(request);
    if (again === null) throw new PeruseError('internal', 'The engine lost the vectors that it was given.');
    return again;
  }
}
