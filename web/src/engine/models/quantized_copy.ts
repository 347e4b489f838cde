// Stores a checkpoint's weights as integers while they are loaded, so that the next load reads a quarter or less.
import { PeruseError } from '../../errors.js';
import type { QuantizedForm } from '../../precisions.js';
import type { FileInForm, FormSink } from '../../sources/source.js';
import { encodeHeader, type TensorEntry, tensorBytes } from '../../sources/weights/safetensors.js';
import type { Engine } from '../engine.js';
import type { TensorInfo, WeightsReader } from '../weights_reader.js';

/** Quantises a safetensors file as it arrives, and gives the result to the engine and to the cache. */
export class QuantizedCopy {
  /** One for each tensor of the reader's header; undefined for a second name of a tied tensor. */
  private entries_: (TensorEntry | undefined)[] | undefined;
  private sink_: FormSink | undefined;
  private tensor_ = -1;
  private position_ = 0;

  private constructor(
    private readonly engine_: Engine,
    private readonly reader_: WeightsReader,
    private readonly form_: FileInForm,
  ) {}

  /** `config` is config.json. Returns undefined if the model cannot be stored quantised, for example because it already is. */
  static start(engine: Engine, name: string, config: Uint8Array, dtype: QuantizedForm, form: FileInForm): QuantizedCopy | undefined {
    const reader = engine.newReader(name);
    try {
      reader.encode(config, dtype);
    } catch (error) {
      reader.dispose();
      if (error instanceof PeruseError && error.code === 'unsupported') return undefined;
      throw error;
    }
    return new QuantizedCopy(engine, reader, form);
  }

  async storing(load: () => Promise<number>): Promise<number> {
    let whole = false;
    try {
      const bytes = await load();
      this.reader_.finish();
      whole = true;
      return bytes;
    } finally {
      this.reader_.dispose();
      await this.sink_?.finish(whole);
    }
  }

  async feed(chunk: Uint8Array): Promise<void> {
    // Copies the pieces: they are in the engine's memory, which may move when it grows.
    const pieces = this.reader_.feed(chunk).map(({ tensor, bytes }) => ({ tensor, bytes: bytes.slice() }));
    const { header } = this.reader_;
    if (header && this.entries_ === undefined) await this.give(this.layOut(header));
    for (const { tensor, bytes } of pieces) {
      if (tensor !== this.tensor_ && this.entries_![tensor]?.begin !== this.position_) {
        throw new PeruseError('internal', 'The tensors arrived in a different order than the header of the weights lists.');
      }
      this.tensor_ = tensor;
      this.position_ += bytes.length;
      await this.give(bytes);
    }
  }

  /** Returns the header of a file with the tensors in the order in which they arrive. */
  private layOut(header: readonly TensorInfo[]): Uint8Array {
    let end = 0;
    this.entries_ = header.map((tensor) => {
      if (tensor.same_as !== undefined) return undefined;
      const begin = end;
      end += tensorBytes(tensor);
      return { ...tensor, begin, end };
    });
    const tied = header.flatMap(({ name, same_as }) => (same_as === undefined ? [] : [[name, same_as]]));
    const entries = this.entries_.filter((entry) => entry !== undefined);
    const bytes = encodeHeader(entries, { format: 'pt', ...Object.fromEntries(tied) });
    this.sink_ = this.form_.save(bytes.length + end);
    return bytes;
  }

  private async give(bytes: Uint8Array): Promise<void> {
    await this.sink_!.add(bytes);
    await this.engine_.feedWeights(bytes);
  }
}
