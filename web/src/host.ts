// A host runs the verbs of one pipeline's engine: in this thread (LocalHost), or in a worker (RemoteHost, worker_host.ts).
import type { Engine, MemoryReport, RunRequest } from './engine.js';
import { describe, PeruseError, throwIfAborted } from './errors.js';
import { BytesFolder } from './folder_bytes.js';
import { UrlFolder } from './folder_url.js';
import { loadModel, type LoadReport } from './load.js';
import type { ProgressCallback } from './progress.js';
import type { ModelFolder, SourceSpec } from './source.js';
import type { VariantChoice } from './variant.js';
import { startEngine } from './wasm_modules.js';

export interface LoadRequest {
  task: string;
  dtype: string;
  source: SourceSpec;
  choice: VariantChoice;
  wasmPath?: string;
}

/** The verbs: what each takes and gives, all of it plain data. Both hosts and the worker's messages derive from this. */
export interface Verbs {
  load: { takes: LoadRequest; gives: LoadReport };
  run: { takes: RunRequest; gives: unknown[] };
  memory: { takes: null; gives: MemoryReport };
}

export type Verb = keyof Verbs;

export interface Host {
  call<V extends Verb>(verb: V, request: Verbs[V]['takes']): Promise<Verbs[V]['gives']>;
  /** Gives the memory back and cancels a load; calls that are under way fail with 'aborted'. */
  dispose(): void;
}

/** What a LocalHost needs from its surroundings; tests put their own in. */
export interface HostParts {
  /** Opens a folder on disk, where there are such. */
  openDiskFolder?: (path: string) => ModelFolder;
  startEngine?: (choice: VariantChoice, wasmPath?: string) => Promise<Engine>;
}

export class LocalHost implements Host {
  private engine_: Engine | undefined;
  private readonly stop_ = new AbortController();
  private readonly verbs_: { [V in Verb]: (request: Verbs[V]['takes']) => Verbs[V]['gives'] | Promise<Verbs[V]['gives']> } = {
    load: (request) => this.load(request),
    run: (request) => this.engine().run(request),
    memory: () => this.engine().memory(),
  };

  constructor(private readonly report_: ProgressCallback, private readonly parts_: HostParts = {}) {}

  async call<V extends Verb>(verb: V, request: Verbs[V]['takes']): Promise<Verbs[V]['gives']> {
    return this.verbs_[verb](request);
  }

  dispose(): void {
    this.stop_.abort();
    this.engine_?.dispose();
    this.engine_ = undefined;
  }

  private engine(): Engine {
    if (!this.engine_) throw new PeruseError('disposed', 'The engine holds no model (any more).');
    return this.engine_;
  }

  private async load(request: LoadRequest): Promise<LoadReport> {
    const start = this.parts_.startEngine ?? startEngine;
    const { engine, report } = await loadModel({
      task: request.task,
      dtype: request.dtype,
      name: request.source.name,
      folder: this.openFolder(request.source),
      startEngine: () => start(request.choice, request.wasmPath),
      report: this.report_,
      signal: this.stop_.signal,
    });
    if (this.stop_.signal.aborted) engine.dispose();
    throwIfAborted(this.stop_.signal);
    this.engine_ = engine;
    return report;
  }

  private openFolder(source: SourceSpec): ModelFolder {
    if (source.kind === 'url') return new UrlFolder(source.base);
    if (source.kind === 'bytes') return new BytesFolder(source.files);
    if (!this.parts_.openDiskFolder) throw new PeruseError('unsupported', `Folders on disk can't be read here: ${describe(source.path)}.`);
    return this.parts_.openDiskFolder(source.path);
  }
}
