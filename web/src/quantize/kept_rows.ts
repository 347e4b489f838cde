import type { TensorInfo } from '../engine/weights_reader.js';
import { tensorBytes } from '../sources/safetensors.js';

/** Selects rows of a tensor whose bytes arrive in order. */
export class KeptRows {
  private readonly rowBytes_: number;
  private readonly isKept_: Uint8Array;
  private at_ = 0;

  constructor(tensor: TensorInfo, { rows, kept }: { rows: number; kept: readonly number[] }) {
    this.rowBytes_ = tensorBytes(tensor) / rows;
    this.isKept_ = new Uint8Array(rows);
    for (const row of kept) this.isKept_[row] = 1;
  }

  /** Returns the kept rows within the next bytes. Consecutive rows are one part. */
  of(bytes: Uint8Array): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let start = 0; // of a run of kept bytes
    let end = 0;
    for (let at = 0; at < bytes.length; ) {
      const row = Math.floor((this.at_ + at) / this.rowBytes_);
      const next = Math.min(bytes.length, (row + 1) * this.rowBytes_ - this.at_);
      if (this.isKept_[row] === 1) {
        if (end < at) {
          if (end > start) parts.push(bytes.subarray(start, end));
          start = at;
        }
        end = next;
      }
      at = next;
    }
    if (end > start) parts.push(bytes.subarray(start, end));
    this.at_ += bytes.length;
    return parts;
  }
}
