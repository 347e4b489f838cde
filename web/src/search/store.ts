// The form of the vectors of an index, of which there are three kinds.
import type { ErrorCode } from '../errors.js';
import type { SparseFeatures } from '../tasks/feature_extraction.js';
import type { SetVectors, VectorHit } from '../tasks/vector_search.js';
import type { Tensor } from '../tensor.js';

export type Kind = 'dense' | 'sparse' | 'multi_vector';

/** What a text becomes, by kind. */
export type IndexVector = Float32Array | SparseFeatures | Tensor;

/** The vectors of an index's chunks, numbered from 0. */
export interface Store<V = IndexVector> {
  readonly kind: Kind;
  /** Numbers of a vector or of a matrix's row, or tokens of the vocabulary. */
  readonly width: number;
  count: number;
  reserveFor(more: number): void;
  /** Appends the vector of a chunk. reserveFor() must be called first. */
  append(vector: V): void;
  /** A copy of these chunks, in this order. */
  only(chunks: readonly number[]): Store<V>;
  /** Returns the `count` chunks with the largest scores among those from `first` on that `accept` accepts, in any order. */
  nearest(query: V, count: number, first: number, accept: (chunk: number) => boolean): VectorHit[];
  /** The contents for the engine; undefined if only this thread searches. */
  forEngine(): Omit<SetVectors, 'index'> | undefined;
  /** The contents for a file. All parts have a size that is a multiple of 4, except the last one. */
  bytes(): Uint8Array<ArrayBuffer>;
  /** Throws `code` if restored contents cannot be searched. */
  check(similarity: 'cosine' | 'dot', code: ErrorCode): void;
}
