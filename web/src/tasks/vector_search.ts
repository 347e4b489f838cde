import type { CallOptions } from './call.js';

/** A found vector: its row, and its dot product with the query. */
export interface VectorHit {
  row: number;
  score: number;
}

/** Stores rows of `width` numbers in the engine under `index`; without rows, removes them. */
export interface SetVectors {
  index: number;
  width: number;
  data: Float32Array | Int8Array;
  /** One for each row of 8-bit integers. */
  scales?: Float32Array;
  /** For late interaction: for each matrix the number of the row after its last one. Rows of hits are then numbers of matrices. */
  ends?: Uint32Array;
}

export interface NearestRequest {
  index: number;
  /** A vector, or the rows of a matrix. */
  query: Float32Array;
  top_k: number;
}

export interface VectorSearch {
  set(request: SetVectors): Promise<null>;
  /** Returns null if the engine does not have the rows. */
  nearest(request: NearestRequest, call?: Pick<CallOptions, 'priority'>): Promise<VectorHit[] | null>;
}

/** The member of a pipeline that semantic_index.ts uses. Registered, because peruse.js and peruse-search.js each contain this module. */
export const kVectorSearch: unique symbol = Symbol.for('peruse.vectorSearch');
