// The other runtimes that npm run bench compares with (--peers): their files, and how a subject starts and loads.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exportLiteRt, exportOnnx, kPeers, prepareLiteRt } from './prepare.mjs';
import { kOrt } from './stage.mjs';

/**
 * By name: `runtimes` that it runs in, and functions: `prepare` makes its files for a model's folder, `create` and `load` are the requests of a
 * subject's first two verbs (worker.mjs).
 */
export const kPeerKinds = {
  ort: {
    title: 'onnxruntime-web',
    runtimes: ['node', 'chromium'],
    prepare: (folder, { task }) => exportOnnx(folder, task),
    create: (stage) => ({ url: stage.module(join(kOrt, stage.ort)) }),
    load: (stage, files, dtype) => ({ onnx: stage.path(files[dtype]) }),
  },
  litert: {
    title: 'LiteRT.js',
    runtimes: ['node', 'chromium'],
    prepare: async (folder, { task, lengths }) => ({ ...(await prepareLiteRt()), ...(await exportLiteRt(folder, task, lengths)) }),
    create: (stage, files) => ({ url: stage.module(files.module), wasm: stage.path(files.wasm) }),
    load: (stage, files, dtype) => ({
      files: Object.fromEntries(Object.entries(files[dtype]).map(([tokens, file]) => [tokens, stage.path(file)])),
    }),
  },
  'ort-node': {
    title: 'onnxruntime-node',
    runtimes: ['node'],
    prepare: (folder, { task }) => exportOnnx(folder, task),
    create: () => ({ url: pathToFileURL(join(kPeers, 'of-this-folder.cjs')).href }),
    load: (stage, files, dtype) => ({ onnx: stage.path(files[dtype]) }),
  },
};

/** Throws unless every peer can compute the batches. */
export function checkPeers(peers, lengths) {
  for (const peer of peers) {
    if (!kPeerKinds[peer]) throw new Error(`no peer '${peer}'; there are ${Object.keys(kPeerKinds).join(', ')}`);
  }
  const several = lengths.filter((name) => !(Number(name) > 0));
  if (peers.includes('litert') && several.length > 0)
    throw new Error(`LiteRT.js computes one text in a call: --lengths without ${several}`);
}
