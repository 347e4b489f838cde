// A model that is loaded at its first use; the load can be cancelled.
import { env, PeruseError, type ProgressCallback } from '../peruse/peruse.js';
import { isBundled } from './bundled.js';
import { earlyFiles } from './early_files.js';
import { liesBesidePage, sourceFor } from './float_weights.js';
import type { Settings } from './model_picker.js';
import type { Proof } from './proof.js';

export interface LoadOptions extends Omit<Settings, 'source' | 'task'> {
  local_files_only?: boolean;
  progress_callback: ProgressCallback;
  signal: AbortSignal;
}

/** Bytes of all files: loaded so far, and in total (0 while the size of the weights is unknown). */
export interface Bytes {
  loaded: number;
  total: number;
}

export class LazyModel<Model extends { dispose(): Promise<void> }> {
  private model_: Model | undefined;
  private controller_ = new AbortController();

  constructor(
    private readonly load_: (source: Settings['source'], options: LoadOptions) => Promise<Model>,
    private readonly proof_: Proof,
  ) {}

  get loaded(): Model | undefined {
    return this.model_;
  }

  /** Returns the model, and loads it if necessary. After a failure or a cancellation the next call loads it again. */
  async get({ source, device, dtype, weights }: Settings, onBytes: (bytes: Bytes) => void): Promise<Model> {
    if (this.model_) return this.model_;
    this.controller_ = new AbortController();
    const { signal } = this.controller_;
    const readable = await sourceFor({ source, dtype }, signal);
    const early = weights === undefined && isBundled(readable) ? await earlyFiles(readable, signal) : undefined;
    env.cache = early?.cache ?? !liesBesidePage(source); // The page's service worker stores the models next to the page.
    const loading = this.load_(readable, {
      device,
      dtype,
      ...(weights === undefined ? {} : { weights }),
      ...(early === undefined ? {} : { local_files_only: true }),
      signal,
      progress_callback: (progress) => {
        if (progress.status !== 'progress') return;
        onBytes(progress.overall);
        if (typeof source === 'string' && !early) this.proof_.loading(`${source}${progress.file}`, progress.loaded);
      },
    });
    const model = await loading.finally(() => early?.close());
    if (signal.aborted) {
      await model.dispose();
      throw new PeruseError('aborted', 'Loading was cancelled.');
    }
    this.model_ = model;
    this.proof_.modelIsReady();
    return model;
  }

  cancel(): void {
    this.controller_.abort();
  }

  async drop(): Promise<void> {
    this.cancel();
    const model = this.model_;
    this.model_ = undefined;
    await model?.dispose();
  }
}
