// The models of this page or process. Callers that name the same model share its worker or thread, its engine and its weights.

import type { LoadRequest } from './engine/load_request.js';
import type { LoadReport } from './engine/models/load.js';
import { describeError } from './errors.js';
import { runtime } from './platform/current.js';
import type { ProgressCallback } from './progress.js';
import type { SourceSpec } from './sources/source.js';
import type { Host } from './worker/host.js';
import { RemoteHost } from './worker/remote_host.js';
import type { Turn } from './worker/turns.js';

export interface StartedHost {
  host: Host;
  inWorker: boolean;
  /** Why it is not in a worker, although one was to be started. */
  trouble?: string;
}

/** Makes the request of a load. Files that only this thread can read are served to a worker until `signal` fires. */
export type MakeRequest = (started: StartedHost, signal: AbortSignal, notice: (sentence: string) => void) => Promise<LoadRequest>;

/** A task of a resident model, which the pipelines of that task share. */
interface LoadedTask {
  host: Host;
  loading: Promise<LoadReport>;
  report?: LoadReport;
  listeners: Set<ProgressCallback>;
  users: number;
  stop: AbortController;
}

/** A pipeline's use of a loaded task. */
export interface TaskUse {
  host: Host;
  turn: Turn;
  report: LoadReport;
  leave(): void;
}

/** The key of the task of the model's class. */
const kOwn = 'own';
const kResident = new Map<string, ResidentModel>();
let pipelines = 0;

/** A model in memory. It is freed when its last user leaves. */
export class ResidentModel {
  readonly #key: string | undefined;
  readonly #started: Promise<StartedHost>;
  readonly #tasks = new Map<string, LoadedTask>();
  #users = 0;

  private constructor(key: string | undefined, started: Promise<StartedHost>) {
    this.#key = key;
    this.#started = started;
    started.catch(() => {});
    if (key !== undefined) kResident.set(key, this);
  }

  /**
   * Enters the model with this key, or starts a new one. Without a key, the model is always new. A model whose files have changed since, or
   * whose worker has ended, is left to its users.
   */
  static async enter(key: string | undefined, start: () => Promise<StartedHost>, makeRequest: MakeRequest): Promise<ResidentModel> {
    for (;;) {
      const known = key === undefined ? undefined : kResident.get(key);
      const model = known ?? new ResidentModel(key, start());
      model.#users += 1;
      try {
        await model.#started;
        if (known === undefined || (await model.#isCurrent(makeRequest))) return model;
      } catch (error) {
        model.leave();
        throw error;
      }
      model.#retire();
      model.leave();
    }
  }

  get started(): Promise<StartedHost> {
    return this.#started;
  }

  leave(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#retire();
    this.#started.then(({ host }) => host.dispose()).catch(() => {});
  }

  /**
   * Uses a task of the model; the first caller loads it. `key` is undefined for any task: a loaded one, or that of the model's class. A load
   * ends when all of its callers have left.
   *
   * @param wait Waits for the load, or rejects for a reason of this caller.
   */
  async use(
    key: string | undefined,
    makeRequest: MakeRequest,
    report: ProgressCallback,
    wait: <T>(promise: Promise<T>) => Promise<T>,
  ): Promise<TaskUse> {
    const started = await wait(this.#started);
    const known = key === undefined ? this.#anyTask() : this.#tasks.get(key);
    const task = known ?? this.#load(key ?? kOwn, started, makeRequest);
    task.users += 1;
    this.#users += 1;
    task.listeners.add(report);
    const turn = { pipeline: ++pipelines };
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#leaveTask(task, turn);
      this.leave();
    };
    try {
      const loaded = await wait(task.loading);
      return { host: task.host, turn, report: known ? { ...loaded, shared: true, bytes: 0 } : loaded, leave };
    } catch (error) {
      leave();
      throw error;
    } finally {
      task.listeners.delete(report);
    }
  }

  #load(key: string, started: StartedHost, makeRequest: MakeRequest): LoadedTask {
    const listeners = new Set<ProgressCallback>();
    const stop = new AbortController();
    const host = started.host.another((progress) => {
      for (const listener of listeners) listener(progress);
    });
    const load = async () => {
      const notices: string[] = [];
      const request = await makeRequest(started, stop.signal, (sentence) => notices.push(sentence));
      const report = await host.call('load', request);
      report.notices.push(...notices);
      // the source will not be read again, so its files are released
      if (report.deviceChoice.device === 'cpu') stop.abort();
      return report;
    };
    const task: LoadedTask = { host, loading: load(), listeners, users: 0, stop };
    this.#tasks.set(key, task);
    task.loading.then(
      (report) => {
        task.report = report;
        const own = keyOfTask(report.task);
        if (key === kOwn && !this.#tasks.has(own) && task.users > 0) this.#tasks.set(own, task);
      },
      () => this.#forget(task), // the next caller tries again
    );
    return task;
  }

  #anyTask(): LoadedTask | undefined {
    return [...this.#tasks.values()].find(({ report }) => report !== undefined) ?? this.#tasks.get(kOwn);
  }

  #leaveTask(task: LoadedTask, turn: Turn): void {
    task.users -= 1;
    if (task.users === 0) {
      this.#forget(task);
      task.stop.abort();
      task.host.dispose();
    } else if (task.report !== undefined) {
      task.host.call('leave', null, undefined, turn).catch(() => {}); // the engine has ended
    }
  }

  #forget(task: LoadedTask): void {
    for (const [key, one] of this.#tasks) if (one === task) this.#tasks.delete(key);
  }

  /** Later callers with the same key start a new model. */
  #retire(): void {
    if (this.#key !== undefined && kResident.get(this.#key) === this) kResident.delete(this.#key);
  }

  /** Whether a load would read the same files. While the first load is running, it would. */
  async #isCurrent(makeRequest: MakeRequest): Promise<boolean> {
    const started = await this.#started;
    if (!started.host.usable()) return false;
    const loaded = [...this.#tasks.values()].find(({ report }) => report !== undefined);
    if (loaded === undefined) return true;
    const stop = new AbortController();
    try {
      return await loaded.host.call('isCurrent', await makeRequest(started, stop.signal, () => {}));
    } catch {
      return false; // the new load reports the reason
    } finally {
      stop.abort();
    }
  }
}

/** The key of a task with its options for the engine. */
export function keyOfTask(task: string, options: object = {}): string {
  return JSON.stringify([task, options]);
}

/** Starts a host in a worker, or in this thread if the caller chose that, or made no choice and no worker can be started. */
export async function startHost(wanted: boolean, demanded: boolean | undefined, threads: number): Promise<StartedHost> {
  const { startWorker, startHere } = runtime();
  const report = () => {}; // only the hosts of tasks report progress
  if (!wanted) return { host: await startHere(report), inWorker: false };
  try {
    return { host: new RemoteHost(await startWorker(threads), report), inWorker: true };
  } catch (error) {
    if (demanded === true) throw error;
    return { host: await startHere(report), inWorker: false, trouble: describeError(error) };
  }
}

/** A key of the source's content; undefined if the content may change. */
export function keyOfSource(spec: SourceSpec): string | undefined {
  switch (spec.kind) {
    case 'folder':
      return `folder ${spec.path}`;
    case 'url':
      return `url ${spec.base} ${spec.token ?? ''}`;
    case 'either': {
      const [first, second] = [keyOfSource(spec.first), keyOfSource(spec.second)];
      return first === undefined || second === undefined ? undefined : `${first}, ${second}`;
    }
    case 'bytes': {
      const versions = [...spec.files.keys()].map((name) => spec.versions?.get(name));
      if (versions.includes(undefined)) return undefined;
      return JSON.stringify([...spec.files.keys()].map((name, index) => [name, versions[index]]));
    }
    case 'port':
      return undefined;
  }
}
