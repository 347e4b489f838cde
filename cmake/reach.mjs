// Prints the sources of a test program of the development loop: the tests of a folder of tests/native, and all sources of the folders whose
// headers they include, directly or through other sources. Folders are those of core and tests/native, and the backends.
//   node cmake/reach.mjs <root> <folder>
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of a file, whose sources a program takes together. */
function folderOf(file) {
  return /^(core\/backend\/\w+|core\/\w+|tests\/native\/\w+|tests\/native)(?=\/)/.exec(file)[1];
}

function sourcesIn(root, folder) {
  const inner = folder !== 'tests/native' && folder !== 'core/backend';
  return readdirSync(join(root, folder), { recursive: inner })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.cc'));
}

export function reachedSources(root, tested) {
  const isTest = (file) => file.endsWith('_test.cc');
  const waiting = sourcesIn(root, `tests/native/${tested}`).filter(isTest);
  const read = new Set();
  const folders = new Set();
  const sources = new Set(waiting);
  const take = (folder) => {
    if (folders.has(folder)) return;
    folders.add(folder);
    for (const file of sourcesIn(root, folder)) {
      if (isTest(file)) continue;
      sources.add(file);
      waiting.push(file);
    }
  };
  take('tests/native');
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (read.has(file) || !existsSync(join(root, file))) continue;
    read.add(file);
    for (const [, included] of readFileSync(join(root, file), 'utf8').matchAll(/^\s*#\s*include "((?:core|tests\/native)\/[^"]+)"/gm)) {
      waiting.push(included);
      take(folderOf(included));
    }
  }
  return [...sources].sort();
}

if (process.argv[1]?.endsWith('reach.mjs')) console.log(reachedSources(process.argv[2], process.argv[3]).join('\n'));
