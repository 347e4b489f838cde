// What an index stores for each chunk: a vector, weights of tokens (sparse), or a matrix (late interaction). Pooling chooses the kind.
import { Matrices } from './matrices.js';
import { Rows, type Storage } from './rows.js';
import type { EmbedOptions } from './search_types.js';
import { SparseLists } from './sparse_lists.js';
import type { IndexVector, Kind, Store } from './store.js';

export function kindOf({ pooling }: EmbedOptions): Kind {
  if (pooling === 'splade') return 'sparse';
  return pooling === 'multi_vector' ? 'multi_vector' : 'dense';
}

export function widthOf(vector: IndexVector): number {
  if (vector instanceof Float32Array) return vector.length;
  return 'indices' in vector ? vector.size : vector.dims[1]!;
}

export function newStore(kind: Kind, width: number, storage: Storage = 'float32'): Store {
  if (kind === 'sparse') return new SparseLists(width);
  return kind === 'dense' ? new Rows(width, storage) : new Matrices(width);
}

/** Restores the contents of bytes(); undefined if the number of bytes does not fit `count` chunks. */
export function restoredStore(kind: Kind, width: number, storage: Storage, count: number, bytes: Uint8Array): Store | undefined {
  if (kind === 'sparse') return SparseLists.restored(width, count, bytes);
  if (kind === 'multi_vector') return Matrices.restored(width, count, bytes);
  return Rows.restored(width, storage, count, bytes);
}

/** A few numbers by which vectors of two models can be compared. */
export function fingerprint(vector: IndexVector): number[] {
  if (vector instanceof Float32Array) return [...vector];
  if ('indices' in vector) {
    const sums = new Array<number>(kFingerprint).fill(0);
    for (const [i, token] of vector.indices.entries()) sums[token % kFingerprint]! += vector.values[i]!;
    return sums;
  }
  const [rows = 0, width = 0] = vector.dims;
  return Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < rows; ++row) sum += vector.data[row * width + column]!;
    return sum;
  });
}

const kFingerprint = 509;
