// Starts a worker in Node (worker_threads).
import { Worker } from 'node:worker_threads';
import { installedFile } from '../engine/installed_node.js';
import type { ProgressInfo } from '../progress.js';
import type { VerbTable, Verbs } from './host.js';
import { isAnswered, type WorkerMessage, type WorkerPort } from './worker_host.js';

/** `file`: within the package's folder web/. */
export function startNodeWorker<S extends VerbTable<S> = Verbs, Progress = ProgressInfo>(file: string): WorkerPort<S, Progress> {
  const worker = new Worker(installedFile(file), { name: 'peruse', execArgv: [] });
  let ended = false;
  let waiting = 0; // An idle worker does not keep the process alive.
  worker.unref();
  return {
    post: (message, transfer = []) => {
      worker.postMessage(message, transfer as never[]);
      if (isAnswered(message) && waiting++ === 0) worker.ref();
    },
    onMessage: (listener) => {
      worker.on('message', (message: WorkerMessage<Progress>) => {
        if (message.kind !== 'progress' && message.kind !== 'here' && --waiting === 0) worker.unref();
        listener(message);
      });
    },
    onDeath: (listener) => {
      worker.on('error', (error) => listener(error instanceof Error ? error.message : String(error)));
      worker.on('messageerror', (error) => listener(error.message));
      worker.on('exit', (code) => {
        if (!ended) listener(`it exited with code ${code}.`);
      });
    },
    terminate: () => {
      ended = true;
      void worker.terminate();
    },
  };
}
