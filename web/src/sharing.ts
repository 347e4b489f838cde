// Pipelines for different tasks of one checkpoint work in one place (a worker, or the caller's thread), where they share an engine and
// its weights (worker/engine_group.ts).
import type { ProgressCallback } from './progress.js';
import type { SourceSpec } from './sources/source.js';
import type { Task } from './tasks/tasks.js';
import type { Host } from './worker/host.js';

export interface StartedHost {
  host: Host;
  inWorker: boolean;
  /** Why not in a worker. */
  trouble?: string;
}

/** A pipeline's place. */
export interface Seat extends StartedHost {
  /** When the pipeline is disposed of. */
  leave(): void;
}

interface Place {
  started: Promise<StartedHost>;
  tasks: Set<Task>;
}

const kPlaces = new Map<string, Place[]>();

/** A seat beside a pipeline of the same key and another task, or one of its own. No key: nobody else's business. */
export async function takeSeat(
  key: string | undefined,
  task: Task,
  report: ProgressCallback,
  start: () => Promise<StartedHost>,
): Promise<Seat> {
  if (key === undefined) return { ...(await start()), leave: () => {} };
  const known = kPlaces.get(key)?.find(({ tasks }) => !tasks.has(task));
  if (known) {
    known.tasks.add(task);
    const started = await known.started.catch(() => undefined);
    if (started?.host.usable()) return { ...started, host: started.host.beside(report), leave: once(() => leave(key, known, task)) };
    leave(key, known, task);
  }
  const place: Place = { started: start(), tasks: new Set([task]) };
  kPlaces.set(key, [...(kPlaces.get(key) ?? []), place]);
  try {
    return { ...(await place.started), leave: once(() => leave(key, place, task)) };
  } catch (error) {
    leave(key, place, task);
    throw error;
  }
}

/** Who leaves twice takes nobody else's place. */
function once(leave: () => void): () => void {
  let left = false;
  return () => {
    if (!left) leave();
    left = true;
  };
}

function leave(key: string, place: Place, task: Task): void {
  place.tasks.delete(task);
  if (place.tasks.size > 0) return;
  const others = kPlaces.get(key)?.filter((other) => other !== place) ?? [];
  if (others.length > 0) kPlaces.set(key, others);
  else kPlaces.delete(key);
}

/** What tells a source from others; undefined where nobody can tell whether its content stays the same. */
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
