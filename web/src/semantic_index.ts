import { PeruseError, show } from './errors.js';
import { type CallOptions, checkString } from './tasks/call.js';
import type { FeatureExtractionCall, FeatureExtractionOptions } from './tasks/feature_extraction.js';
import { kVectorSearch, type VectorSearch } from './tasks/vector_search.js';

/** The part of a feature-extraction pipeline that SemanticIndex uses. */
export type Embedder = FeatureExtractionCall & { readonly [kVectorSearch]: VectorSearch };

/** The options of feature-extraction that determine vectors. */
export type EmbedOptions = Pick<FeatureExtractionOptions, 'pooling' | 'prompt' | 'prompt_name' | 'truncation'>;

/** Options of a SemanticIndex. */
export interface SemanticIndexOptions {
  /** Stored vectors: `vectors` of an index with the same model and options. */
  vectors?: Float32Array;
  /** Keep only this many first numbers of each vector (Matryoshka embeddings). */
  dimensions?: number;
  /** 'cosine' (default) compares directions; 'dot' is the dot product. */
  similarity?: 'cosine' | 'dot';
}

/** Options of a search. */
export interface SearchOptions extends EmbedOptions, CallOptions {
  /** Maximum number of hits. Default 10. */
  top_k?: number;
}

/** A found text: its number in the order of addition, and its similarity to the query. */
export interface SearchHit {
  index: number;
  score: number;
}

const kTextsAtOnce = 64;
let indexes = 0;

/**
 * Searches texts by meaning:
 *
 *     const index = new SemanticIndex(await pipeline('feature-extraction', 'user/embedder'));
 *     await index.add(texts, { prompt_name: 'passage' });
 *     await index.search('a question', { top_k: 3, prompt_name: 'query' });   // [{ index, score }, ...]
 *
 * `vectors` is one Float32Array, which can be stored and passed to a new index.
 */
export class SemanticIndex {
  private readonly number_ = ++indexes;
  private vectors_ = new Float32Array(0); // has spare capacity at its end
  private used_ = 0; // numbers in use
  private width_: number | undefined;
  private sent_ = false;
  private readonly fixed_: FeatureExtractionOptions;

  constructor(
    private readonly embed_: Embedder,
    options: SemanticIndexOptions = {},
  ) {
    checkOptions(options);
    if (typeof embed_ !== 'function' || embed_[kVectorSearch] === undefined) {
      throw new PeruseError('invalid_argument', `A semantic index needs a pipeline for feature-extraction, not ${show(embed_)}.`);
    }
    const { vectors, dimensions, similarity = 'cosine' } = options;
    if (similarity !== 'cosine' && similarity !== 'dot') {
      throw new PeruseError('invalid_argument', `similarity must be 'cosine' or 'dot', not ${show(similarity)}.`);
    }
    this.fixed_ = { ...(dimensions === undefined ? {} : { dimensions }), normalize: similarity === 'cosine' };
    if (vectors === undefined) return;
    this.vectors_ = copyOf(vectors);
    this.used_ = vectors.length;
    if (dimensions !== undefined && dimensions > 0 && vectors.length % dimensions === 0) this.width_ = dimensions;
  }

  /** Number of texts. With stored vectors and without `dimensions`, it is 0 until the first search or addition. */
  get size(): number {
    return this.width_ === undefined ? 0 : this.used_ / this.width_;
  }

  /** A copy of all vectors, row by row. */
  get vectors(): Float32Array {
    return copyOf(this.vectors_.subarray(0, this.used_));
  }

  /** Adds texts, numbered from `size` on. A failed call adds none of them. */
  async add(texts: readonly string[], options: EmbedOptions & CallOptions = {}): Promise<void> {
    checkOptions(options);
    if (!Array.isArray(texts)) throw new PeruseError('invalid_argument', `Texts must be a list, not ${show(texts)}.`);
    const given = texts.map((text, index) => checkString(text, `Input ${index}`));
    const vectors: Float32Array[] = [];
    for (let at = 0; at < given.length; at += kTextsAtOnce) {
      try {
        vectors.push(...(await this.embed(given.slice(at, at + kTextsAtOnce), options)));
      } catch (error) {
        throw renumbered(error, at);
      }
    }
    this.append(vectors);
  }

  /** Returns the texts that are most similar to the query, best first. */
  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    checkOptions(options);
    const { top_k = 10, ...rest } = options;
    if (!Number.isSafeInteger(top_k) || top_k < 1) {
      throw new PeruseError('invalid_argument', `top_k must be a whole number from 1 on, not ${show(top_k)}.`);
    }
    const [vector] = await this.embed([query], rest);
    if (this.used_ === 0) return [];
    const hits = await this.nearest(vector!, Math.min(top_k, this.size));
    const strange = hits.find(({ score }) => !Number.isFinite(score));
    if (strange !== undefined) {
      throw new PeruseError(
        'invalid_argument',
        `The product of the query with vector ${strange.row} is not finite: its numbers are too large for 'dot'.`,
      );
    }
    return hits.map(({ row, score }) => ({ index: row, score }));
  }

  /** Frees the engine's copy of the vectors. The next search sends them again. */
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

  private append(vectors: readonly Float32Array[]): void {
    const numbers = vectors.reduce((sum, { length }) => sum + length, 0);
    if (this.used_ + numbers > this.vectors_.length) {
      const larger = newVectors(Math.max(2 * this.vectors_.length, this.used_ + numbers));
      larger.set(this.vectors_.subarray(0, this.used_));
      this.vectors_ = larger;
    }
    for (const vector of vectors) {
      this.vectors_.set(vector, this.used_);
      this.used_ += vector.length;
    }
    if (numbers > 0) this.sent_ = false;
  }

  /** Sends the rows to the engine if they have changed or the engine has lost them, and searches. */
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

function checkOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null) return;
  throw new PeruseError('invalid_argument', `Options must be an object, not ${show(options)}.`);
}

function copyOf(vectors: Float32Array): Float32Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(vectors) || !(vectors instanceof Float32Array)) {
    throw new PeruseError('invalid_argument', `vectors must be a Float32Array, not ${show(vectors)}.`);
  }
  const copy = newVectors(vectors.length);
  copy.set(vectors);
  return copy;
}

function newVectors(length: number): Float32Array<ArrayBuffer> {
  try {
    return new Float32Array(length);
  } catch (error) {
    const megabytes = Math.ceil((length * 4) / 2 ** 20);
    throw new PeruseError('out_of_memory', `There is no memory for ${megabytes} MB of vectors.`, { cause: error });
  }
}

/** An error about an input, renumbered by its position among all texts of the call. */
function renumbered(error: unknown, first: number): unknown {
  if (!(error instanceof PeruseError) || first === 0) return error;
  const message = error.message.replace(/\binput (\d+)/i, (words, number: string) => words.replace(number, String(Number(number) + first)));
  return new PeruseError(error.code, message, { cause: error });
}
