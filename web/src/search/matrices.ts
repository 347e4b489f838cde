// Matrices of late interaction, whose rows are 8-bit integers with a scale for each row.
import { type ErrorCode, PeruseError } from '../errors.js';
import type { SetVectors, VectorHit } from '../tasks/vector_search.js';
import type { Tensor } from '../tensor.js';
import { allocate, bestOf, Rows } from './rows.js';
import type { Store } from './store.js';

export class Matrices implements Store<Tensor> {
  readonly kind = 'multi_vector';
  private rows_: Rows;
  private ends_: number[] = []; // for each matrix the number of the row after its last one

  /** `width` is the number of columns. */
  constructor(readonly width: number) {
    this.rows_ = new Rows(width, 'int8');
  }

  get count(): number {
    return this.ends_.length;
  }

  reserveFor(): void {}

  append({ dims: [rows = 0], data }: Tensor): void {
    this.rows_.reserveFor(rows);
    for (let row = 0; row < rows; ++row) this.rows_.append(data.subarray(row * this.width, (row + 1) * this.width));
    this.ends_.push(this.rows_.count);
  }

  only(kept: readonly number[]): Matrices {
    const copy = new Matrices(this.width);
    const rows: number[] = [];
    for (const matrix of kept) {
      for (let row = this.firstRow(matrix); row < this.ends_[matrix]!; ++row) rows.push(row);
      copy.ends_.push(rows.length);
    }
    copy.rows_ = this.rows_.only(rows);
    return copy;
  }

  private firstRow(matrix: number): number {
    return matrix === 0 ? 0 : this.ends_[matrix - 1]!;
  }

  nearest(query: Tensor, count: number, first: number, accept: (matrix: number) => boolean): VectorHit[] {
    const [length = 0] = query.dims;
    const rows = Array.from({ length }, (_, i) => Float64Array.from(query.data.subarray(i * this.width, (i + 1) * this.width)));
    const hits: VectorHit[] = [];
    for (let matrix = first; matrix < this.count; ++matrix) {
      const [begin, end] = [this.firstRow(matrix), this.ends_[matrix]!];
      if (begin < end && accept(matrix)) hits.push({ row: matrix, score: this.score(rows, begin, end) });
    }
    return bestOf(hits, count);
  }

  private score(query: readonly Float64Array[], begin: number, end: number): number {
    let score = 0;
    for (const row of query) {
      let largest = Number.NEGATIVE_INFINITY;
      for (let other = begin; other < end; ++other) largest = Math.max(largest, this.rows_.product(other, row));
      score += largest;
    }
    return Math.fround(score);
  }

  forEngine(): Omit<SetVectors, 'index'> {
    return { width: this.width, ...this.rows_.stored(), ends: Uint32Array.from(this.ends_) };
  }

  /** The ends, the scales, and the rows. */
  bytes(): Uint8Array<ArrayBuffer> {
    const rows = this.rows_.bytes();
    const bytes = allocate((length) => new Uint8Array(length), 4 * this.count + rows.length, 1);
    bytes.set(new Uint8Array(Uint32Array.from(this.ends_).buffer));
    bytes.set(rows, 4 * this.count);
    return bytes;
  }

  static restored(width: number, count: number, bytes: Uint8Array): Matrices | undefined {
    if (bytes.length < 4 * count) return undefined;
    const matrices = new Matrices(width);
    matrices.ends_ = [...new Uint32Array(new Uint8Array(bytes.subarray(0, 4 * count)).buffer)];
    const rows = Rows.restored(width, 'int8', matrices.ends_.at(-1) ?? 0, bytes.subarray(4 * count));
    if (rows === undefined || matrices.ends_.some((end, i) => end < matrices.firstRow(i))) return undefined;
    matrices.rows_ = rows;
    return matrices;
  }

  check(_similarity: 'cosine' | 'dot', code: ErrorCode): void {
    const bad = this.rows_.firstBad();
    if (bad !== undefined) throw new PeruseError(code, `Row ${bad} holds a number that is not finite.`);
  }
}
