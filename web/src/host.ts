// A host runs the verbs of one pipeline's engine: in this thread (LocalHost), or in a worker (RemoteHost, worker_host.ts).
import type { Engine, RunRequest } from './engine.js';
import { PeruseError, throwIfAborted } from './errors.js';
import { BytesFolder } from './folder_bytes.js';
import { UrlFolder } from './folder_url.js';
import { loadModel, type LoadReport } from './load.js';
import type { MemoryReport } from './memory_report.js';
import type { ProgressCallback } from './progress.js';
import type { ModelFolder, SourceSpec } from './source.js';
import type { VariantChoice } from './variant.js';
import { startEngine } from './wasm_modules.js';

export interface LoadRequest {
  task: string;
  /** The engine's name for it. */
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
  /** A signal that fires stops the work at the next batch. */
  call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']>;
  /** Gives the memory back and cancels a load; calls that are under way fail with 'aborted'. */
  dispose(): void;
}

/** What a LocalHost needs from its surroundings; tests put their own in. */
export interface HostParts {
  /** Opens a folder on disk, where there are such. */
  openDiskFolder?: (path: string) => ModelFolder;
  startEngine?: (choice: VariantChoice, wasmPath?: string) => Promise<Engine>;
  /** WebGPU, where it is not the navigator's. Throws 'no_gpu'. */
  findGpu?: () => Promise<GPU | undefined>;
}

export class LocalHost implements Host {
  private engine_: Engine | undefined;
  private weightBytes_ = 0;
  private readonly stop_ = new AbortController();
  private last_: Promise<unknown> = Promise.resolve();
  private readonly verbs_: { [V in Verb]: (request: Verbs[V]['takes'], signal?: AbortSignal) => Promise<Verbs[V]['gives']> } = {
    load: (request) => this.load(request),
    run: (request, signal) => this.inTurn(() => this.run(request, signal)),
    memory: async () => ({ heapBytes: this.engine().heapBytes(), weightBytes: this.weightBytes_ }),
  };

  constructor(private readonly report_: ProgressCallback, private readonly parts_: HostParts = {}) {}

  async call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> {
    return this.verbs_[verb](request, signal);
  }

  dispose(): void {
    this.stop_.abort();
    this.engine_?.dispose();
    this.engine_ = undefined;
  }

  private engine(): Engine {
    throwIfAborted(this.stop_.signal);
    if (!this.engine_) throw new PeruseError('internal', 'The engine holds no model yet.');
    return this.engine_;
  }

  /** The engine holds the state of one run: the next waits. */
  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.last_.then(task);
    this.last_ = turn.catch(() => {});
    return turn;
  }

  private async run(request: RunRequest, signal: AbortSignal | undefined): Promise<unknown[]> {
    throwIfAborted(signal);
    this.engine().start(request);
    while (await this.engine().step()) {
      await letEventsIn();
      throwIfAborted(signal);
    }
    return this.engine().finish();
  }

  private async load(request: LoadRequest): Promise<LoadReport> {
    const start = this.parts_.startEngine ?? ((choice, wasmPath) => startEngine(choice, wasmPath, this.parts_.findGpu));
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
    this.weightBytes_ = report.weights.weightBytes;
    return report;
  }

  private openFolder(source: SourceSpec): ModelFolder {
    if (source.kind === 'url') return new UrlFolder(source.base);
    if (source.kind === 'bytes') return new BytesFolder(source.files);
    if (!this.parts_.openDiskFolder) throw new PeruseError('unsupported', `Folders on disk can't be read here: ${source.path}.`);
    return this.parts_.openDiskFolder(source.path);
  }
}

/** Lets waiting messages and timers run. A timeout would be held back to 4 ms when repeated; a message is not. */
function letEventsIn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
