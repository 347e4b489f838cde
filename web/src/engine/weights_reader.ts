// Reads the tensors of a weights file of any format with the engine's parsers, for the commands that copy or describe checkpoints.

import { describeError, type ErrorCode, PeruseError } from '../errors.js';
import { kSmallestForm } from '../precisions.js';
import type { IntegerParameters } from '../sources/onnx_part.js';
import { encodeHeader, tensorBytes } from '../sources/weights/safetensors.js';
import type { WasmModule } from './module_calls.js';

interface EngineWeightsReader {
  reserve(bytes: number): number;
  encode(bytes: number, dtype: string): string;
  widen(bytes: number): string;
  markTokenRows(bytes: number): string;
  feed(bytes: number): string;
  finish(): string;
  delete(): void;
}

export interface ToolModule extends WasmModule {
  WeightsReader: new () => EngineWeightsReader;
}

export interface TensorInfo {
  name: string;
  /** safetensors' name: 'F32', 'BF16', 'I64', ... */
  dtype: string;
  shape: number[];
  /** An earlier tensor with the same bytes (tied weights), which are delivered only once. */
  same_as?: string;
  /** Has a row for each token of the vocabulary. Only after markTokenRows(). */
  token_rows?: true;
}

/** Consecutive bytes of a tensor. A tensor is complete before the next one starts. */
export interface TensorPiece {
  tensor: number;
  /** Valid until the next call. */
  bytes: Uint8Array;
}

interface Read {
  header?: TensorInfo[];
  /** Tuples of tensor index, address and number of bytes. */
  pieces: [number, number, number][];
}

export interface ReadReport {
  encoded: number;
  /** Bytes of all tensors in the file; tied ones count once. */
  bytes: number;
  /** After widen(): name and relative error of each linear layer's tensor in fewer bits than narrow layers have. */
  losses: [name: string, loss: number][];
}

type Reply<T> = ({ ok: true } & T) | { ok: false; code: ErrorCode; message: string };

/**
 * Asks the engine which tensors it stores as integers: linear layers ('rows') and token embeddings ('words'), which have 4 bits in
 * precision q4, and a row for each token. The reader is used up.
 */
export function integerParameters(reader: WeightsReader, config: Uint8Array, tensors: readonly TensorInfo[]): IntegerParameters {
  try {
    reader.encode(config, kSmallestForm);
    reader.markTokenRows(config);
    let end = 0;
    const entries = tensors.map((tensor) => {
      const begin = end;
      end += tensorBytes(tensor);
      return { ...tensor, begin, end };
    });
    reader.feed(encodeHeader(entries, {}));
    const integers = (reader.header ?? []).filter(({ dtype }) => dtype === 'I8' || dtype === 'U8');
    return new Map(integers.map(({ name, dtype, token_rows }) => [name, dtype === 'U8' && token_rows ? 'words' : 'rows']));
  } catch (error) {
    if (error instanceof PeruseError && error.code === 'unsupported') return new Map(); // config.json says that the weights are quantised
    throw error;
  } finally {
    reader.dispose();
  }
}

export class WeightsReader {
  private readonly reader_: EngineWeightsReader;
  private header_: TensorInfo[] | undefined;

  constructor(
    private readonly module_: ToolModule,
    private readonly where_: string,
  ) {
    this.reader_ = new module_.WeightsReader();
  }

  /** The tensors of the file; undefined until enough of it has arrived. */
  get header(): readonly TensorInfo[] | undefined {
    return this.header_;
  }

  /** Converts the following tensors to `dtype`. `config` is the model's config.json. Returns the config.json of the result. Call before feed(). */
  encode(config: Uint8Array, dtype: string): Record<string, unknown> {
    this.stage(config);
    return this.answer<{ config: Record<string, unknown> }>(() => this.reader_.encode(config.length, dtype)).config;
  }

  /** Measures what linear layers lose, and gives those with tensors of these names the bits of narrow layers. Call after encode(), before feed(). */
  widen(names: readonly string[]): void {
    const list = new TextEncoder().encode(names.join('\n'));
    this.stage(list);
    this.answer(() => this.reader_.widen(list.length));
  }

  /** Marks the tensors of the header that have a row for each token. `config` is the model's config.json. Call before feed(). */
  markTokenRows(config: Uint8Array): void {
    this.stage(config);
    this.answer(() => this.reader_.markTokenRows(config.length));
  }

  feed(chunk: Uint8Array): TensorPiece[] {
    this.stage(chunk);
    const { header, pieces } = this.answer<{ read: Read }>(() => this.reader_.feed(chunk.length)).read;
    this.header_ ??= header;
    const heap = this.module_.HEAPU8;
    return pieces.map(([tensor, at, size]) => ({ tensor, bytes: heap.subarray(at, at + size) }));
  }

  finish(): ReadReport {
    return this.answer<{ report: ReadReport }>(() => this.reader_.finish()).report;
  }

  dispose(): void {
    this.reader_.delete();
  }

  private stage(bytes: Uint8Array): void {
    const address = this.call(() => this.reader_.reserve(bytes.length)) >>> 0;
    if (address === 0 && bytes.length > 0)
      throw new PeruseError('out_of_memory', `There is no memory for ${bytes.length} bytes of ${this.where_}.`);
    this.module_.HEAPU8.set(bytes, address);
  }

  private answer<T>(method: () => string): T {
    const reply = JSON.parse(this.call(method)) as Reply<T>;
    if (!reply.ok) throw new PeruseError(reply.code, `${this.where_}: ${reply.message}`);
    return reply;
  }

  private call<T>(method: () => T): T {
    try {
      return method();
    } catch (error) {
      throw new PeruseError('worker_died', `The engine stopped at ${this.where_}: ${describeError(error)}`, { cause: error });
    }
  }
}
