// One pass over a file, which yields the bytes of its parameters in the order of the file. Tensors of one parameter are stored close
// together, so about one parameter is in memory.
import { PeruseError } from '../errors.js';
import type { ByteStream } from './byte_stream.js';
import type { CopyCheck } from './copies.js';
import type { Output } from './outputs.js';
import type { Tensor } from './tensor.js';
import { RowFitter, wholeBytes } from './values.js';

const kMostWaitingBytes = 512 << 20;
const kBatchElements = 1 << 18;

export class Pass {
  private readonly held_ = new Map<Tensor, Uint8Array>();
  private heldBytes_ = 0;
  /** Parameters in the order of the file; those from `next_` on are not complete yet. */
  private readonly outputs_: readonly Output[];
  private next_ = 0;
  /** Number of incomplete parameters that need a tensor. */
  private readonly needs_ = new Map<Tensor, number>();

  /** `file_` names external data; undefined means the .onnx file itself. */
  constructor(
    private readonly stream_: ByteStream,
    private readonly file_: string | undefined,
    outputs: readonly Output[],
    private readonly copies_: CopyCheck,
  ) {
    this.outputs_ = outputs;
    for (const tensor of outputs.flatMap(membersOf)) this.needs_.set(tensor, (this.needs_.get(tensor) ?? 0) + 1);
  }

  async *run(): AsyncGenerator<Uint8Array> {
    const needed = new Set([...this.needs_.keys(), ...this.copies_.tensors].filter((one) => this.isHere(one)));
    for (const tensor of [...needed].sort((a, b) => a.place!.offset - b.place!.offset)) {
      await this.reach(tensor);
      const next = this.outputs_[this.next_];
      const needs = this.needs_.get(tensor) ?? 0;
      if (needs === 0) {
        for await (const _ of this.pass(tensor));
        continue;
      }
      if (needs === 1 && next?.claim.tensor === tensor && this.canStream(next)) {
        yield* next.dtype === 'I8' ? this.integerRows(next) : this.pass(tensor);
        this.finish(next);
        continue;
      }
      const bytes = await this.stream_.take(tensor.place!.length);
      this.copies_.hashOf(tensor)?.push(bytes);
      this.hold(tensor, bytes);
      yield* this.giveReady();
    }
    const left = this.outputs_[this.next_];
    if (left) throw new PeruseError('unsupported', `the tensors of ${left.name} are in two files, which is not read`);
  }

  private async *pass(tensor: Tensor): AsyncGenerator<Uint8Array> {
    const hash = this.copies_.hashOf(tensor);
    for await (const part of this.stream_.pass(tensor.place!.length)) {
      hash?.push(part);
      yield part;
    }
  }

  private isHere({ place }: Tensor): boolean {
    return place !== undefined && place.file === this.file_;
  }

  private async reach(tensor: Tensor): Promise<void> {
    const ahead = tensor.place!.offset - this.stream_.position;
    if (ahead < 0) throw new PeruseError('unsupported', `the tensor "${tensor.name}" overlaps another one, which is not read`);
    await this.stream_.skip(ahead);
  }

  private canStream({ claim, dtype, members }: Output): boolean {
    if (claim.transposed || claim.columns || claim.byHeads) return false;
    return claim.coding.kind === 'floats' || (dtype === 'I8' && members.slice(1).every((side) => this.bytesOf(side)));
  }

  private bytesOf(tensor: Tensor): Uint8Array | undefined {
    return tensor.bytes ?? this.held_.get(tensor);
  }

  private *giveReady(): Generator<Uint8Array> {
    for (;;) {
      const next = this.outputs_[this.next_];
      if (!next?.members.every((tensor) => this.bytesOf(tensor))) return;
      yield* wholeBytes(next.claim, next.dtype, (tensor) => this.bytesOf(tensor)!);
      this.finish(next);
    }
  }

  private hold(tensor: Tensor, bytes: Uint8Array): void {
    if (this.heldBytes_ > kMostWaitingBytes) {
      throw new PeruseError(
        'unsupported',
        `codes and scales of weights are more than ${kMostWaitingBytes >> 20} MB apart, which is not read`,
      );
    }
    this.heldBytes_ += bytes.length;
    this.held_.set(tensor, bytes);
  }

  private finish(output: Output): void {
    this.next_ += 1;
    for (const tensor of membersOf(output)) {
      const needs = this.needs_.get(tensor)! - 1;
      this.needs_.set(tensor, needs);
      if (needs > 0) continue;
      this.heldBytes_ -= this.held_.get(tensor)?.length ?? 0;
      this.held_.delete(tensor);
    }
  }

  private async *integerRows({ claim }: Output): AsyncGenerator<Uint8Array> {
    const fitter = new RowFitter(claim, (tensor) => this.bytesOf(tensor)!);
    const { rows, width } = fitter;
    const hash = this.copies_.hashOf(claim.tensor);
    const batch = Math.max(1, Math.floor(kBatchElements / Math.max(1, width)));
    for (let row = 0; row < rows; row += batch) {
      const count = Math.min(batch, rows - row);
      const codes = await this.stream_.take(count * width);
      hash?.push(codes);
      yield fitter.fit(row, codes);
    }
    yield new Uint8Array(fitter.scales.buffer);
  }
}

function membersOf({ members }: Output): Tensor[] {
  return [...new Set(members)];
}
