// A model that is loaded at its first use; the load can be cancelled.
import { env, PeruseError, type ProgressCallback } from '../peruse/peruse.js';
import { liesBesidePage, sourceFor } from './beside_page.js';
import { isBundled } from './bundled.js';
import { earlyFiles } from './early_files.js';
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

const downloads = new Set<Promise<unknown>>();

/** Makes `untilNothingLoads()` wait for a load of the visitor's. */
export function counted<T>(load: Promise<T>): Promise<T> {
  const end = () => downloads.delete(load);
  downloads.add(load);
  load.then(end, end);
  return load;
}

export async function untilNothingLoads(): Promise<void> {
  while (downloads.size > 0) await Promise.allSettled(downloads);
}

export class LazyModel<Model extends { dispose(): Promise<void> }> {
  private model_: Model | undefined;
  private controller_ = new AbortController();
  /** Whether files of a model next to the page are still arriving. */
  private isArriving_ = false;

  constructor(
    private readonly load_: (source: Settings['source'], options: LoadOptions) => Promise<Model>,
    private readonly proof_: Proof,
  ) {}

  get loaded(): Model | undefined {
    return this.model_;
  }

  /** Returns the model, and loads it if necessary. After a failure or a cancellation the next call loads it again. */
  async get(settings: Settings, onBytes: (bytes: Bytes) => void): Promise<Model> {
    return this.model_ ?? counted(this.loadModel(settings, onBytes));
  }

  private async loadModel(settings: Settings, onBytes: (bytes: Bytes) => void): Promise<Model> {
    this.controller_ = new AbortController();
    const { signal } = this.controller_;
    this.proof_.modelIsLoading();
    try {
      return await this.loadFiles(settings, onBytes, signal);
    } finally {
      this.proof_.modelIsReady();
    }
  }

  private async loadFiles(
    { source, device, dtype, weights }: Settings,
    onBytes: (bytes: Bytes) => void,
    signal: AbortSignal,
  ): Promise<Model> {
    const readable = await sourceFor({ source, dtype }, signal);
    this.isArriving_ = isBundled(readable);
    const early = weights === undefined && isBundled(readable) ? await earlyFiles(readable, signal) : undefined;
    env.cache = !liesBesidePage(source); // The page's service worker stores the models next to the page.
    env.fetch = early?.fetch;
    const loading = this.load_(readable, {
      device,
      dtype,
      ...(weights === undefined ? {} : { weights }),
      signal,
      progress_callback: (progress) => {
        if (progress.status !== 'progress') return;
        this.isArriving_ &&= progress.overall.loaded !== progress.overall.total;
        onBytes(progress.overall);
        if (typeof source === 'string' && !early) this.proof_.loading(`${source}${progress.file}`, progress.loaded);
      },
    });
    const model = await loading.finally(() => {
      if (env.fetch === early?.fetch) env.fetch = undefined;
      early?.close();
    });
    if (signal.aborted) {
      await model.dispose();
      throw new PeruseError('aborted', 'Loading was cancelled.');
    }
    this.model_ = model;
    return model;
  }

  /** Loads another model in place of the loaded one, which stays until then, or if the load fails. Returns the former model. */
  async replace(settings: Settings, onBytes: (bytes: Bytes) => void): Promise<Model | undefined> {
    this.cancel();
    const former = this.model_;
    await counted(this.loadModel(settings, onBytes));
    return former;
  }

  cancel(): void {
    this.controller_.abort();
  }

  /** Cancels the download of a model next to the page. Returns whether there was a download. */
  giveWay(): boolean {
    if (this.model_ || !this.isArriving_) return false;
    this.isArriving_ = false;
    this.cancel();
    return true;
  }

  async drop(): Promise<void> {
    this.cancel();
    const model = this.model_;
    this.model_ = undefined;
    await model?.dispose();
  }
}
