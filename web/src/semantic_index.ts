// Semantic search: texts as vectors, and the nearest of them to a query. The work is done in search/, which loads on use.
import { asArgumentError, PeruseError, show } from './errors.js';
import { runtime } from './platform/current.js';
import type { IndexCore } from './search/index_core.js';
import type {
  DuplicateOptions,
  DuplicatePair,
  Embedder,
  EmbedOptions,
  IndexItem,
  SearchHit,
  SearchOptions,
  SemanticIndexOptions,
  TextId,
} from './search/search_types.js';
import type { CallOptions } from './tasks/call.js';
import { kVectorSearch } from './tasks/vector_search.js';

/**
 * Texts and their vectors, to be searched:
 *
 *     const index = new SemanticIndex(await pipeline('feature-extraction', 'user/embedder'));
 *     await index.add([{ id: 'a', text: 'A text.' }], { prompt_name: 'passage' });
 *     await index.search('a question', { top_k: 3, prompt_name: 'query' });   // [{ id, index, start, end, text, score }, ...]
 *
 * Every search compares all vectors. Calls of one index may overlap: a search finds what was added before it.
 */
export class SemanticIndex {
  readonly #embedder: Embedder;
  readonly #options: SemanticIndexOptions;
  #core: IndexCore | undefined;
  #opening: Promise<IndexCore> | undefined;

  constructor(embed: Embedder, options: SemanticIndexOptions = {}) {
    checkOptions(options);
    if (typeof embed !== 'function' || embed[kVectorSearch] === undefined) {
      throw new PeruseError('invalid_argument', `A semantic index needs a pipeline for feature-extraction, not ${show(embed)}.`);
    }
    const { similarity = 'cosine', vectors } = options;
    if (similarity !== 'cosine' && similarity !== 'dot') {
      throw new PeruseError('invalid_argument', `similarity must be 'cosine' or 'dot', not ${show(similarity)}.`);
    }
    this.#embedder = embed;
    this.#options = vectors === undefined ? options : { ...options, vectors: copyOf(vectors) };
  }

  /**
   * Loads an index that `save()` stored. Throws 'invalid_argument' if its vectors come from another model, dtype, pooling, prompt or number
   * of dimensions than `embed` has, and 'malformed_file' or 'truncated_file' for bytes that are no whole index.
   */
  static async load(embed: Embedder, file: Blob | ArrayBuffer | Uint8Array): Promise<SemanticIndex> {
    const index = new SemanticIndex(embed);
    index.#core = await (await runtime().search()).loadIndex(embed, file);
    return index;
  }

  /** Number of texts. With stored vectors and without `dimensions`, it is 0 until the first search or addition. */
  get size(): number {
    const { vectors, dimensions } = this.#options;
    return this.#core?.size ?? (vectors !== undefined && dimensions ? Math.floor(vectors.length / dimensions) : 0);
  }

  /** The vectors, row by row: a copy. A text in several chunks has several. */
  get vectors(): Float32Array {
    return this.#core?.vectors ?? copyOf(this.#options.vectors ?? new Float32Array(0));
  }

  /** Adds texts: all of them, or none if the call fails. Throws 'invalid_argument' if an id exists. */
  async add(texts: readonly (string | IndexItem)[], options: EmbedOptions & CallOptions = {}): Promise<void> {
    checkOptions(options);
    return (await this.#opened()).add(texts, options);
  }

  /** Replaces the texts that have these ids, and adds those that are new: all of them, or none if the call fails. */
  async update(texts: readonly IndexItem[], options: EmbedOptions & CallOptions = {}): Promise<void> {
    checkOptions(options);
    return (await this.#opened()).update(texts, options);
  }

  /** Removes texts. Returns the number of them that the index had. */
  async remove(ids: readonly TextId[]): Promise<number> {
    if (!Array.isArray(ids)) throw new PeruseError('invalid_argument', `Ids must be a list, not ${show(ids)}.`);
    return (await this.#opened()).remove(ids);
  }

  /** Whether the index has a text with this id. */
  async has(id: TextId): Promise<boolean> {
    return (await this.#opened()).has(id);
  }

  /** The texts, or chunks of texts, that are nearest to `query`, the best first. */
  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    checkOptions(options);
    return (await this.#opened()).search(query, options);
  }

  /** Pairs of chunks of different texts whose score is `threshold` or more, the most similar first. Compares every chunk with all others. */
  async nearDuplicates(options: DuplicateOptions = {}): Promise<DuplicatePair[]> {
    checkOptions(options);
    return (await this.#opened()).nearDuplicates(options);
  }

  /** The whole index as one Blob: vectors, texts, ids, metadata, and what made the vectors. */
  async save(): Promise<Blob> {
    return (await runtime().search()).saveIndex(await this.#opened());
  }

  /** Frees the memory that the index uses in the engine. Later searches work: they send the vectors again. */
  async release(): Promise<void> {
    return (await this.#opened()).release();
  }

  async #opened(): Promise<IndexCore> {
    if (this.#core !== undefined) return this.#core;
    this.#opening ??= runtime()
      .search()
      .then(({ newIndex }) => newIndex(this.#embedder, this.#options));
    try {
      this.#core ??= await this.#opening;
      return this.#core;
    } finally {
      this.#opening = undefined; // If opening failed, the next call tries again.
    }
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
  try {
    return new Float32Array(vectors);
  } catch (error) {
    if (!(error instanceof RangeError)) throw asArgumentError(error);
    const megabytes = Math.ceil(vectors.byteLength / 2 ** 20);
    throw new PeruseError('out_of_memory', `There is no memory for ${megabytes} MB of vectors.`, { cause: error });
  }
}
