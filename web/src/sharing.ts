// Pipelines for different tasks of one checkpoint share a host (a worker, or the calling thread), an engine and its weights.
import { describeError } from './errors.js';
import { platform } from './platform/current.js';
import type { ProgressCallback } from './progress.js';
import type { SourceSpec } from './sources/source.js';
import type { Task } from './tasks/tasks.js';
import type { Host } from './worker/host.js';
import { MovingHost } from './worker/moving_host.js';
import { RemoteHost } from './worker/remote_host.js';

export interface StartedHost {
  host: Host;
  inWorker: boolean;
  trouble?: string;
}

export interface HostLease extends StartedHost {
  release(): void;
}

interface SharedHost {
  started: Promise<StartedHost>;
  tasks: Set<Task>;
}

const kSharedHosts = new Map<string, SharedHost[]>();

/** Returns the host of a pipeline with the same key and another task, or a new host. Without a key, the host is always new. */
export async function leaseHost(
  key: string | undefined,
  task: Task,
  report: ProgressCallback,
  start: () => Promise<StartedHost>,
): Promise<HostLease> {
  if (key === undefined) return { ...(await start()), release: () => {} };
  const known = kSharedHosts.get(key)?.find(({ tasks }) => !tasks.has(task));
  if (known) {
    known.tasks.add(task);
    const started = await known.started.catch(() => undefined);
    if (started?.host.usable()) return { ...started, host: started.host.fork(report), release: once(() => release(key, known, task)) };
    release(key, known, task);
  }
  const shared: SharedHost = { started: start(), tasks: new Set([task]) };
  kSharedHosts.set(key, [...(kSharedHosts.get(key) ?? []), shared]);
  try {
    return { ...(await shared.started), release: once(() => release(key, shared, task)) };
  } catch (error) {
    release(key, shared, task);
    throw error;
  }
}

/** Ignores a second release, after which another pipeline may use the task. */
function once(release: () => void): () => void {
  let released = false;
  return () => {
    if (!released) release();
    released = true;
  };
}

function release(key: string, shared: SharedHost, task: Task): void {
  shared.tasks.delete(task);
  if (shared.tasks.size > 0) return;
  const others = kSharedHosts.get(key)?.filter((other) => other !== shared) ?? [];
  if (others.length > 0) kSharedHosts.set(key, others);
  else kSharedHosts.delete(key);
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

/** Starts a host in a worker, or in this thread if the caller chose that, or made no choice and no worker can be started. */
export async function startHost(
  wanted: boolean,
  demanded: boolean | undefined,
  threads: number,
  report: ProgressCallback,
): Promise<StartedHost> {
  if (!wanted) {
    const host = await platform().startHere(report);
    return { host: demanded === false ? host : new MovingHost(host), inWorker: false };
  }
  try {
    return { host: new RemoteHost(await platform().startWorker(threads), report), inWorker: true };
  } catch (error) {
    if (demanded === true) throw error;
    return { host: await platform().startHere(report), inWorker: false, trouble: describeError(error) };
  }
}
