// A model that is fetched when it is first used, once, and can be cancelled while it is on its way.
import { PeruseError, type ProgressCallback } from '../peruse/dist/index.js';
import type { Settings } from './settings.js';

export interface LoadOptions {
  progress_callback: ProgressCallback;
  signal: AbortSignal;
}

/** Bytes over all files: those that have arrived, and those that will (0 while the size of the weights is not known). */
export interface Bytes {
  loaded: number;
  total: number;
}

export class LazyModel<Model extends { dispose(): Promise<void> }> {
  private model_: Model | undefined;
  private controller_: AbortController | undefined;

  constructor(
    private readonly load_: (settings: Settings, options: LoadOptions) => Promise<Model>,
    private settings_: Settings,
  ) {}

  get isLoaded(): boolean {
    return this.model_ !== undefined;
  }

  /** The model; loads it if it is not there. After a failure or a cancellation the next call starts afresh. */
  async get(onBytes: (bytes: Bytes) => void): Promise<Model> {
    if (this.model_) return this.model_;
    const controller = (this.controller_ = new AbortController());
    const files = new Map<string, Bytes>();
    const model = await this.load_(this.settings_, {
      signal: controller.signal,
      progress_callback: (progress) => {
        if (progress.status !== 'progress') return;
        files.set(progress.file, progress);
        onBytes(sum(files));
      },
    });
    if (controller.signal.aborted) {
      await model.dispose();
      throw new PeruseError('aborted', 'Loading was cancelled.');
    }
    return (this.model_ = model);
  }

  /** From now on the model is loaded so. One that is loaded or on its way is given back. */
  async use(settings: Settings): Promise<void> {
    this.cancel();
    this.settings_ = settings;
    await this.drop();
  }

  cancel(): void {
    this.controller_?.abort();
  }

  /** Gives back a model that no longer works or is not wanted; the next call loads it again. */
  async drop(): Promise<void> {
    const model = this.model_;
    this.model_ = undefined;
    await model?.dispose();
  }
}

function sum(files: ReadonlyMap<string, Bytes>): Bytes {
  const all = { loaded: 0, total: 0 };
  for (const { loaded, total } of files.values()) {
    all.loaded += loaded;
    all.total += total;
  }
  // The small files come first; next to the weights they are nothing, and alone they would be 100 %.
  const hasWeights = [...files.keys()].some((file) => file.endsWith('.safetensors'));
  return hasWeights ? all : { ...all, total: 0 };
}
