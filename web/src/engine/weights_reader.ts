// A weights file's tensors, whatever its format, for tools that copy or describe them: the engine's own parsers tell them.
import { describe, type ErrorCode, PeruseError } from '../errors.js';
import type { EngineModule, EngineWeightsReader } from './engine.js';

/** What a file says of a tensor. */
export interface TensorInfo {
  name: string;
  /** As safetensors writes it: 'F32', 'BF16', 'I64', ... */
  dtype: string;
  shape: number[];
  /** An earlier tensor that is the very same bytes (tied weights): this one gets no pieces. */
  same_as?: string;
}

/** The next bytes of a tensor. All of a tensor come before the first of another. */
export interface TensorPiece {
  /** Its index in the header. */
  tensor: number;
  /** Valid until the next call. */
  bytes: Uint8Array;
}

interface Read {
  header?: TensorInfo[];
  /** Tensor, address, bytes. */
  pieces: [number, number, number][];
}

type Reply = { ok: true; read: Read } | { ok: false; code: ErrorCode; message: string };

export class WeightsReader {
  private readonly reader_: EngineWeightsReader;
  private header_: TensorInfo[] | undefined;

  /** `where_`: the file, for messages. */
  constructor(
    private readonly module_: EngineModule,
    private readonly where_: string,
  ) {
    this.reader_ = new module_.WeightsReader();
  }

  /** Set once enough of the file has come. */
  get header(): readonly TensorInfo[] | undefined {
    return this.header_;
  }

  feed(chunk: Uint8Array): TensorPiece[] {
    const address = this.call(() => this.reader_.reserve(chunk.length)) >>> 0;
    if (address === 0 && chunk.length > 0)
      throw new PeruseError('out_of_memory', `There is no memory for ${chunk.length} bytes of ${this.where_}.`);
    this.module_.HEAPU8.set(chunk, address);
    const { header, pieces } = this.answer(() => this.reader_.feed(chunk.length)).read;
    this.header_ ??= header;
    const heap = this.module_.HEAPU8;
    return pieces.map(([tensor, at, size]) => ({ tensor, bytes: heap.subarray(at, at + size) }));
  }

  /** The end of the file: 'truncated_file' if it came too soon. */
  finish(): void {
    this.answer(() => this.reader_.finish());
  }

  dispose(): void {
    this.reader_.delete();
  }

  private answer(method: () => string): Reply & { ok: true } {
    const reply = JSON.parse(this.call(method)) as Reply;
    if (!reply.ok) throw new PeruseError(reply.code, `${this.where_}: ${reply.message}`);
    return reply;
  }

  private call<T>(method: () => T): T {
    try {
      return method();
    } catch (error) {
      throw new PeruseError('worker_died', `The engine stopped at ${this.where_}: ${describe(error)}`, { cause: error });
    }
  }
}
