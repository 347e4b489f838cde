// Sparse vectors as inverted lists: for each token the chunks that have it, with their weights.
import { type ErrorCode, PeruseError } from '../errors.js';
import type { SparseFeatures } from '../tasks/feature_extraction.js';
import type { VectorHit } from '../tasks/vector_search.js';
import { allocate, bestOf } from './rows.js';
import type { Store } from './store.js';

/** The chunks with a token, ascending, and its weights in them. Arrays have unused capacity. */
interface List {
  chunks: Uint32Array;
  weights: Float32Array;
  length: number;
}

export class SparseLists implements Store<SparseFeatures> {
  readonly kind = 'sparse';
  private readonly lists_ = new Map<number, List>();
  private postings_ = 0;
  count = 0;

  /** `width` is the size of the vocabulary. */
  constructor(readonly width: number) {}

  reserveFor(): void {}

  append({ indices, values }: SparseFeatures): void {
    this.addChunk(indices, values);
  }

  private addChunk(indices: Uint32Array, values: Float32Array): void {
    const chunk = this.count++;
    for (let i = 0; i < indices.length; ++i) this.add(indices[i]!, chunk, values[i]!);
  }

  private add(token: number, chunk: number, weight: number): void {
    let list = this.lists_.get(token);
    if (list === undefined || list.length === list.chunks.length) {
      list = withCapacity(list, Math.max(4, 2 * (list?.length ?? 0)));
      this.lists_.set(token, list);
    }
    list.chunks[list.length] = chunk;
    list.weights[list.length++] = weight;
    this.postings_ += 1;
  }

  only(kept: readonly number[]): SparseLists {
    const numbers = new Map(kept.map((chunk, number) => [chunk, number]));
    const copy = new SparseLists(this.width);
    for (const [token, { chunks, weights, length }] of this.lists_) {
      for (let i = 0; i < length; ++i) {
        const number = numbers.get(chunks[i]!);
        if (number !== undefined) copy.add(token, number, weights[i]!);
      }
    }
    copy.count = kept.length;
    return copy;
  }

  /** Chunks without any token of the query are not found. */
  nearest({ indices, values }: SparseFeatures, count: number, first: number, accept: (chunk: number) => boolean): VectorHit[] {
    const scores = new Float64Array(this.count);
    for (let i = 0; i < indices.length; ++i) {
      const list = this.lists_.get(indices[i]!);
      for (let at = 0; list !== undefined && at < list.length; ++at) scores[list.chunks[at]!]! += values[i]! * list.weights[at]!;
    }
    const hits: VectorHit[] = [];
    for (let row = first; row < this.count; ++row) {
      if (scores[row] !== 0 && accept(row)) hits.push({ row, score: Math.fround(scores[row]!) });
    }
    return bestOf(hits, count);
  }

  forEngine(): undefined {}

  /** The number of tokens of each chunk, then the tokens, then the weights: chunk by chunk. */
  bytes(): Uint8Array<ArrayBuffer> {
    const words = this.count + 2 * this.postings_;
    const buffer = allocate((length) => new ArrayBuffer(length), 4 * words, 1);
    const sizes = new Uint32Array(buffer, 0, this.count);
    const tokens = new Uint32Array(buffer, 4 * this.count, this.postings_);
    const weights = new Float32Array(buffer, 4 * (this.count + this.postings_));
    for (const { chunks, length } of this.lists_.values()) for (let i = 0; i < length; ++i) sizes[chunks[i]!]! += 1;
    const next = new Uint32Array(this.count);
    for (let chunk = 1; chunk < this.count; ++chunk) next[chunk] = next[chunk - 1]! + sizes[chunk - 1]!;
    for (const [token, list] of this.lists_) {
      for (let i = 0; i < list.length; ++i) {
        const at = next[list.chunks[i]!]!++;
        tokens[at] = token;
        weights[at] = list.weights[i]!;
      }
    }
    return new Uint8Array(buffer);
  }

  static restored(width: number, count: number, bytes: Uint8Array): SparseLists | undefined {
    const buffer = new Uint8Array(bytes).buffer;
    const postings = (buffer.byteLength / 4 - count) / 2;
    if (!Number.isInteger(postings) || postings < 0) return undefined;
    const sizes = new Uint32Array(buffer, 0, count);
    if (sizes.reduce((sum, size) => sum + size, 0) !== postings) return undefined;
    const tokens = new Uint32Array(buffer, 4 * count, postings);
    const weights = new Float32Array(buffer, 4 * (count + postings));
    const lists = new SparseLists(width);
    let at = 0;
    for (const size of sizes) {
      lists.addChunk(tokens.subarray(at, at + size), weights.subarray(at, at + size));
      at += size;
    }
    return lists;
  }

  check(_similarity: 'cosine' | 'dot', code: ErrorCode): void {
    for (const [token, { weights, length }] of this.lists_) {
      if (token < this.width && weights.subarray(0, length).every(Number.isFinite)) continue;
      throw new PeruseError(code, `The weights of token ${token} hold a number that is not finite, or the vocabulary lacks the token.`);
    }
  }
}

function withCapacity(list: List | undefined, capacity: number): List {
  const chunks = allocate((length) => new Uint32Array(length), capacity, 4);
  const weights = allocate((length) => new Float32Array(length), capacity, 4);
  if (list === undefined) return { chunks, weights, length: 0 };
  chunks.set(list.chunks);
  weights.set(list.weights);
  return { chunks, weights, length: list.length };
}
