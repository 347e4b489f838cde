// A host runs the calls of one task of a model: in this thread (local_host.ts), or in a worker (remote_host.ts).

import type { RunRequest } from '../engine/engine.js';
import type { LoadRequest, MemoryReport, UsageReport } from '../engine/load_request.js';
import type { DescribeRequest, DescriptionReport } from '../engine/models/describe_model.js';
import type { LoadReport } from '../engine/models/load.js';
import type { ProgressCallback } from '../progress.js';
import type { SourceSpec } from '../sources/source.js';
import type { Inspection, InspectRequest } from '../tasks/inspection.js';
import type { TokenizerRequest } from '../tasks/tokenizer_calls.js';
import type { NearestRequest, SetVectors, VectorHit } from '../tasks/vector_search.js';
import type { Port } from '../web_types.js';
import type { Turn } from './turns.js';

export interface FilesRequest {
  source: SourceSpec;
  port: Port;
}

/** The calls of a host by verb, as plain data. */
export interface Verbs {
  load: { takes: LoadRequest; gives: LoadReport };
  /** Whether a load would read the configuration and the weights that are loaded. */
  isCurrent: { takes: LoadRequest; gives: boolean };
  run: { takes: RunRequest; gives: unknown[] };
  inspect: { takes: InspectRequest; gives: Inspection[] };
  tokenize: { takes: TokenizerRequest; gives: unknown };
  memory: { takes: null; gives: MemoryReport };
  usage: { takes: null; gives: UsageReport };
  setVectors: { takes: SetVectors; gives: null };
  nearest: { takes: NearestRequest; gives: VectorHit[] | null };
  /** Frees what a pipeline has in the engine. */
  leave: { takes: null; gives: null };
  describe: { takes: DescribeRequest; gives: DescriptionReport };
  /** Serves the source's files at the port, until the host is disposed of. */
  serveFiles: { takes: FilesRequest; gives: null };
}

export type Verb = keyof Verbs;

export interface Host {
  /** Runs a call. The signal stops it before its next piece. */
  call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal, turn?: Turn): Promise<Verbs[V]['gives']>;
  dispose(): void;
  /** Returns a host in the same thread, for another task. Both share weights; each must be disposed of separately. */
  another(report: ProgressCallback): Host;
  /** Whether calls can still succeed: false after the worker has ended. */
  usable(): boolean;
}

/** The engines of a host that are still starting. */
export class Starting {
  readonly #promises = new Set<Promise<unknown>>();

  add<T>(promise: Promise<T>): Promise<T> {
    this.#promises.add(promise);
    const forget = () => this.#promises.delete(promise);
    promise.then(forget, forget);
    return promise;
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#promises);
  }
}
