import { describeError, PeruseError } from '../errors.js';
import type { NearestRequest, SetVectors, VectorHit } from '../tasks/vector_search.js';

export interface EngineVectorIndex {
  resize(rows: number): number;
  resizeCodes(rows: number): number;
  scales(): number;
  query(): number;
  finish(): number;
  search(k: number): string;
  delete(): void;
}

interface IndexModule {
  readonly HEAPU8: Uint8Array;
  readonly VectorIndex: new (width: number) => EngineVectorIndex;
}

export class VectorIndex {
  private readonly index_: EngineVectorIndex;

  constructor(
    private readonly module_: IndexModule,
    private readonly width_: number,
  ) {
    this.index_ = new module_.VectorIndex(width_);
  }

  set({ data, scales }: Pick<SetVectors, 'data' | 'scales'>): void {
    const rows = data.length / this.width_;
    const address = this.call(() => (scales ? this.index_.resizeCodes(rows) : this.index_.resize(rows))) >>> 0;
    if (address === 0 && rows > 0) throw new PeruseError('out_of_memory', `There is no memory for ${rows} vectors.`);
    this.write(address, data);
    if (scales) this.write(this.call(() => this.index_.scales()) >>> 0, scales);
    const bad = this.call(() => this.index_.finish());
    if (bad >= 0) throw new PeruseError('invalid_argument', `Vector ${bad} holds a number that is not finite.`);
  }

  search(query: Float32Array, k: number): VectorHit[] {
    this.write(this.call(() => this.index_.query()) >>> 0, query);
    const { hits } = JSON.parse(this.call(() => this.index_.search(k))) as { hits: number[] };
    return Array.from({ length: hits.length / 2 }, (_, i) => ({ row: hits[2 * i]!, score: hits[2 * i + 1]! }));
  }

  get width(): number {
    return this.width_;
  }

  dispose(): void {
    this.index_.delete();
  }

  private write(address: number, data: Float32Array | Int8Array): void {
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
  set(newIndex: (width: number) => VectorIndex, { index, width, data, scales }: SetVectors): null {
    this.indexes_.get(index)?.dispose();
    this.indexes_.delete(index);
    if (data.length === 0) return null;
    const made = newIndex(width);
    try {
      made.set({ data, ...(scales && { scales }) });
    } catch (error) {
      made.dispose();
      throw error;
    }
    this.indexes_.set(index, made);
    return null;
  }

  nearest({ index, query, top_k }: NearestRequest): VectorHit[] | null {
    const known = this.indexes_.get(index);
    return known?.width === query.length ? known.search(query, top_k) : null;
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
