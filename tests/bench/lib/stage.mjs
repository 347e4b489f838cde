import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../../tools/setup/root.mjs';
import { openPage } from './chromium.mjs';
import { modelsDir } from './prepare.mjs';
import { nativeSubject, nodeSubject, pageSubject } from './subjects.mjs';

export const kOrt = join(root, 'tests/bench/node_modules/onnxruntime-web/dist');

export async function openStage(runtime, environment) {
  if (runtime === 'native') return { start: ({ native }, { threads }) => nativeSubject(native, threads), path: (file) => file, close() {} };
  if (runtime === 'node') {
    return {
      start: (_, create) => nodeSubject(create),
      path: (file) => file,
      module: (file) => pathToFileURL(file).href,
      ort: 'ort.node.min.mjs',
      close() {},
    };
  }
  const page = await openPage(environment.chromium.path, {
    '/bench/': join(root, 'tests/bench'),
    '/build/': join(root, 'build'),
    '/models/': modelsDir,
    '/ort/': kOrt,
  });
  const url = (file) => file.replace(`${kOrt}/`, '/ort/').replace(`${modelsDir}/`, '/models/').replace(join(root, 'build/'), '/build/');
  return {
    start: (_, create) => pageSubject(page.page, create),
    path: (file) => new URL(url(file), page.url).href,
    module: (file) => new URL(url(file), page.url).href,
    ort: 'ort.wasm.min.mjs',
    close: page.close,
  };
}
