// Search among vectors: what crosses to the engine.

/** A vector that was found: its row and its product with the query. */
export interface VectorHit {
  row: number;
  score: number;
}

/** Stores rows of `width` numbers in the engine under `index`; without rows, removes them. */
export interface SetVectors {
  index: number;
  width: number;
  data: Float32Array;
}

export interface NearestRequest {
  index: number;
  query: Float32Array;
  top_k: number;
}

/** How a pipeline reaches the engine's search. */
export interface VectorSearch {
  set(request: SetVectors): Promise<null>;
  /** Null if the engine does not have the rows, or has lost them. */
  nearest(request: NearestRequest): Promise<VectorHit[] | null>;
}

/** The member of a pipeline that searches; for semantic_index.ts alone. */
export const kVectorSearch = Symbol('peruse.vectorSearch');
