// Which builds of the engine the chosen tests can load: those whose JavaScript loaders the tests import, over any number of files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../setup/root.mjs';
import { glueOf, kVariants } from '../variants.mjs';
import { kWorkers } from './tree.mjs';

const kTests = join(root, 'tests/node');

/** The test files that Vitest chooses by words: all, or those whose path contains one of them. */
export function testsNamed(words) {
  return readdirSync(kTests, { recursive: true })
    .map((name) => join(kTests, name))
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith(join(kTests, 'gpu')))
    .filter((file) => words.length === 0 || words.some((word) => file.slice(root.length).includes(word)));
}

/** The file behind a path in an import or a string: web/dist is compiled from web/src, Node's workers are bundled from modules. */
function sourceOf(path) {
  const worker = Object.keys(kWorkers).find((name) => path.endsWith(name));
  const module = worker ? join(dirname(path), kWorkers[worker]) : path;
  const source = module.replace('/web/dist/', '/web/src/').replace(/\.js$/, '.ts');
  return [source, path].find((file) => /\.(ts|mjs)$/.test(file) && existsSync(file));
}

function pathsIn(file, text) {
  const relative = [...text.matchAll(/['"`](\.{1,2}\/[^'"`]*\.m?js)['"`]/g)].map(([, path]) => join(dirname(file), path));
  const fromRoot = [...text.matchAll(/['"`}](web\/dist\/[^'"`]*\.js)['"`]/g)].map(([, path]) => join(root, path));
  return [...relative, ...fromRoot];
}

function reach(files) {
  const seen = new Set();
  const glue = new Set();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8').replace(/^import type .*$/gm, '');
    for (const path of pathsIn(file, text)) {
      const loader = /\/web\/wasm\/(glue[\w-]*\.mjs)$/.exec(path)?.[1];
      if (loader) glue.add(loader);
      const next = loader ? undefined : sourceOf(path);
      if (next !== undefined) waiting.push(next);
    }
  }
  return glue;
}

/** The builds that tests can load whose paths contain one of `words`. */
export function neededVariants(words) {
  const glue = reach(testsNamed(words));
  return kVariants.filter((variant) => glue.has(glueOf(variant)));
}
