// Compares tensors that must be equal while their bytes pass. Only hashes stay in memory.
import { PeruseError } from '../errors.js';
import type { Copy } from './claim.js';
import { bytesOf, sizeOf, type Tensor } from './tensor.js';

export class CopyCheck {
  private readonly hashes_ = new Map<Tensor, MatrixHash>();

  constructor(private readonly copies_: readonly Copy[]) {
    for (const { first, second, turned } of copies_) {
      this.add(first, false);
      this.add(second, turned);
    }
  }

  /** Tensors whose bytes are compared. */
  get tensors(): Iterable<Tensor> {
    return this.hashes_.keys();
  }

  /** Receives the bytes of the tensor in any parts, in order. Returns undefined for tensors that are not compared. */
  hashOf(tensor: Tensor): MatrixHash | undefined {
    return this.hashes_.get(tensor);
  }

  /** Call after all tensors have passed. */
  finish(): void {
    for (const { name, first, second, turned } of this.copies_) {
      const shape = turned ? [...second.dims].reverse() : second.dims;
      if (String(first.dims) === String(shape) && this.hashes_.get(first)!.value === this.hashes_.get(second)!.value) continue;
      throw new PeruseError('unsupported', `two tensors claim ${name}: ${first.name} and ${second.name}`);
    }
  }

  private add(tensor: Tensor, turned: boolean): void {
    if (this.hashes_.has(tensor)) return;
    const hash = new MatrixHash(tensor, turned);
    this.hashes_.set(tensor, hash);
    if (tensor.bytes) hash.push(tensor.bytes);
  }
}

/** A hash of the elements and their positions, which is the same for a matrix and for its transpose if `turned_`. */
class MatrixHash {
  private readonly size_: number;
  private readonly rows_: number;
  private readonly columns_: number;
  private index_ = 0;
  private row_ = 0;
  private column_ = 0;
  private readonly carry_: number[] = [];
  private sum_ = 0;

  constructor(
    tensor: Tensor,
    private readonly turned_: boolean,
  ) {
    this.size_ = Math.max(1, Math.floor(bytesOf(tensor) / Math.max(1, sizeOf(tensor))));
    this.rows_ = tensor.dims[0] ?? 1;
    this.columns_ = tensor.dims[1] ?? 1;
  }

  get value(): number {
    return this.sum_ >>> 0;
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    while (this.carry_.length > 0 && at < bytes.length) {
      this.carry_.push(bytes[at++]!);
      if (this.carry_.length === this.size_) this.add(numberAt(this.carry_.splice(0), 0, this.size_));
    }
    for (; at + this.size_ <= bytes.length; at += this.size_) this.add(numberAt(bytes, at, this.size_));
    for (; at < bytes.length; ++at) this.carry_.push(bytes[at]!);
  }

  private add(value: number): void {
    let mixed = Math.imul(value ^ Math.imul(this.index_, 0x9e3779b1), 0x85ebca6b);
    mixed ^= mixed >>> 15;
    this.sum_ = (this.sum_ + Math.imul(mixed, 0xc2b2ae35)) | 0;
    if (!this.turned_) {
      this.index_ += 1;
    } else if (++this.column_ < this.columns_) {
      this.index_ += this.rows_;
    } else {
      this.column_ = 0;
      this.index_ = ++this.row_;
    }
  }
}

function numberAt(bytes: ArrayLike<number>, at: number, size: number): number {
  let value = bytes[at]!;
  for (let i = 1; i < size; ++i) value |= bytes[at + i]! << (8 * i);
  return value;
}
