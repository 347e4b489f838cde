// Search among vectors: what crosses to the engine.

/** A vector that was found: its row and its product with the query. */
export interface VectorHit {
  row: number;
  score: number;
}

/** Gives the engine rows of `width` numbers to be searched under a number of the caller's; none: forget them. */
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
  /** Null: the engine has no such rows, or no more. */
  nearest(request: NearestRequest): Promise<VectorHit[] | null>;
}

/** The member of a pipeline that searches; for semantic_index.ts alone. */
export const kVectorSearch = Symbol('peruse.vectorSearch');
