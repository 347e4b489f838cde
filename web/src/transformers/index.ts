import '../index.js';
import { compileFetched } from '../engine/files_browser.js';
import { unlessAborted } from '../errors.js';
import { runtime } from '../platform/current.js';
import { startHost } from '../resident_models.js';
import { PortFolder } from '../sources/folders/folder_port.js';
import { healing } from '../sources/folders/healing.js';
import { sendable } from '../sources/sendable.js';
import { setTokenizerRuntime, type WithFolder } from '../tokenizer/tokenizer.js';

/**
 * A page's tokenizers get their files through the worker that reads models' files, or without workers through peruse-host.js. So this bundle does
 * not contain the code that reads files.
 */
const readInHost: WithFolder = async (spec, signal, use) => {
  const access = runtime();
  const { host, inWorker } = await unlessAborted(startHost(access.startsWorkers(), undefined, 1), signal, (late) => late.host.dispose());
  const stop = new AbortController();
  const { port1, port2 } = new MessageChannel();
  try {
    const source = inWorker ? await sendable(spec, stop.signal, access) : spec;
    const failing = host.call('serveFiles', { source, port: port2 }) as Promise<never>; // resolves after dispose(), when nobody waits any more
    const folder = new PortFolder(port1);
    const reading = healing(async (opened) => use(opened.set(spec, folder) && folder));
    return await unlessAborted(Promise.race([failing, reading]), signal);
  } finally {
    host.dispose();
    stop.abort();
    port1.close();
  }
};

setTokenizerRuntime({
  paths: runtime().paths,
  withFolder: readInHost,
  compile: async (_, folder) => {
    const own = () => new URL('./peruse-tokenizer.wasm', import.meta.url); // this form lets bundlers find the file
    return compileFetched('peruse-tokenizer.wasm', own, folder ?? (await runtime().filesFolder?.()));
  },
});

export * from './face.js';
