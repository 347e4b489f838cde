// The worker that browsers start (a module worker). Nothing else imports this file.
import { serve, type WorkerRequest } from './worker_host.js';

// The names that a dedicated worker's global scope has; the DOM's types know only a window's.
declare const self: {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<WorkerRequest>) => void) | null;
};

serve(
  (message, transfer = []) => self.postMessage(message, transfer),
  (listener) => { self.onmessage = (event) => listener(event.data); },
  {},
);
