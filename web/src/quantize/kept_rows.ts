import type { TensorInfo } from '../engine/weights_reader.js';
import { PeruseError } from '../errors.js';
import { tensorBytes } from '../sources/safetensors.js';

/** Names of tensors with a row for each token: token embeddings, and layers that predict tokens, with their scales in q8 files. */
const kOfTokens =
  /(^|\.)(word_embeddings|tok_embeddings|embedding|decoder|vocab_projector|generator_lm_head|predictions|lm_head|lm_predictions)\.(weight|bias)(_scale)?$|^embeddings$/;

export function isOfTokens({ name, shape }: TensorInfo, { rows }: { rows: number }): boolean {
  if (shape[0] !== rows || /\.\d+\./.test(name)) return false; // numbered layers do not have rows for tokens
  if (kOfTokens.test(name)) return true;
  throw new PeruseError(
    'unsupported',
    `The tensor '${name}' has as many rows as the vocabulary (${rows}), but its name does not say whether they belong to tokens.`,
  );
}

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
