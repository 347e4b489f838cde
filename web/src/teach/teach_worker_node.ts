// The worker that teaches, in Node.
import { parentPort } from 'node:worker_threads';
import { compileRead } from '../engine/read_wasm_node.js';
import { nodeFolderParts } from '../sources/folder_parts_node.js';
import { serveHosts } from '../worker/worker_host.js';
import { TeachHost, type TeachVerbs } from './lesson.js';
import type { TeachProgress } from './options.js';

const port = parentPort!;

serveHosts<TeachVerbs, TeachProgress>(
  (message, transfer) => port.postMessage(message, transfer),
  (listener) => port.on('message', listener),
  (report) => new TeachHost(report, { ...nodeFolderParts, compile: (folder) => compileRead('peruse-teach.wasm', folder) }),
);
