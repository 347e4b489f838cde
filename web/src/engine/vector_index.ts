import { describeError, PeruseError } from '../errors.js';
import type { NearestRequest, SetVectors, VectorHit } from '../tasks/vector_search.js';

export interface EngineVectorIndex {
  resize(rows: number): number;
  resizeCodes(rows: number): number;
  scales(): number;
  query(): number;
  finish(): number;
  search(k: number): string;
  ends(matrices: number): number;
  queryRows(rows: number): number;
  searchMatrices(k: number): string;
  delete(): void;
}

interface IndexModule {
  readonly HEAPU8: Uint8Array;
  readonly VectorIndex: new (width: number) => EngineVectorIndex;
}

export class VectorIndex {
  private readonly index_: EngineVectorIndex;
  private hasMatrices_ = false;

  constructor(
    private readonly module_: IndexModule,
    private readonly width_: number,
  ) {
    this.index_ = new module_.VectorIndex(width_);
  }

  set({ data, scales, ends }: Pick<SetVectors, 'data' | 'scales' | 'ends'>): void {
    const rows = data.length / this.width_;
    const address = this.call(() => (scales ? this.index_.resizeCodes(rows) : this.index_.resize(rows))) >>> 0;
    if (address === 0 && rows > 0) throw new PeruseError('out_of_memory', `There is no memory for ${rows} vectors.`);
    this.write(address, data);
    if (scales) this.write(this.call(() => this.index_.scales()) >>> 0, scales);
    const bad = this.call(() => this.index_.finish());
    if (bad >= 0) throw new PeruseError('invalid_argument', `Vector ${bad} holds a number that is not finite.`);
    if (ends === undefined) return;
    this.hasMatrices_ = true;
    this.write(
      this.allocated(() => this.index_.ends(ends.length)),
      ends,
    );
  }

  private allocated(resize: () => number): number {
    const address = this.call(resize) >>> 0;
    if (address === 0) throw new PeruseError('out_of_memory', 'There is no memory for the vectors of a search.');
    return address;
  }

  /** `query` is a vector, or a matrix for an index of matrices. */
  search(query: Float32Array, k: number): VectorHit[] {
    const rows = query.length / this.width_;
    this.write(
      this.allocated(() => (this.hasMatrices_ ? this.index_.queryRows(rows) : this.index_.query())),
      query,
    );
    const json = this.call(() => (this.hasMatrices_ ? this.index_.searchMatrices(k) : this.index_.search(k)));
    const { hits } = JSON.parse(json) as { hits: number[] };
    return Array.from({ length: hits.length / 2 }, (_, i) => ({ row: hits[2 * i]!, score: hits[2 * i + 1]! }));
  }

  /** Whether a query of this many numbers fits. */
  fits(numbers: number): boolean {
    return this.hasMatrices_ ? numbers > 0 && numbers % this.width_ === 0 : numbers === this.width_;
  }

  dispose(): void {
    this.index_.delete();
  }

  private write(address: number, data: Float32Array | Int8Array | Uint32Array): void {
    this.module_.HEAPU8.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), address);
  }

  private call<T>(method: () => T): T {
    try {
      return method();
    } catch (error) {
      throw new PeruseError('worker_died', `The engine stopped while it searched: ${describeError(error)}`, { cause: error });
    }
  }
}

/** The indexes of a pipeline, by number. */
export class VectorIndexes {
  private readonly indexes_ = new Map<number, VectorIndex>();

  /** Replaces an index, or with empty data removes it. */
  set(newIndex: (width: number) => VectorIndex, { index, width, data, scales, ends }: SetVectors): null {
    this.indexes_.get(index)?.dispose();
    this.indexes_.delete(index);
    if (data.length === 0) return null;
    const made = newIndex(width);
    try {
      made.set({ data, ...(scales && { scales }), ...(ends && { ends }) });
    } catch (error) {
      made.dispose();
      throw error;
    }
    this.indexes_.set(index, made);
    return null;
  }

  nearest({ index, query, top_k }: NearestRequest): VectorHit[] | null {
    const known = this.indexes_.get(index);
    return known?.fits(query.length) ? known.search(query, top_k) : null;
  }

  /** Frees the indexes one by one, because another pipeline may share the engine's memory. */
  dispose(): void {
    for (const index of this.indexes_.values()) index.dispose();
    this.forget();
  }

  /** For indexes whose memory is gone. */
  forget(): void {
    this.indexes_.clear();
  }
}
