#!/usr/bin/env node
// Makes the documentation site in build/docs from README.md, docs/, the models' cards and the docstrings of every entry: npm run docs. Its addresses are
// relative, so it works under any path. npm run demo serves it with the page, and npm run site puts it into the site.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { captureAsync } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';

const folder = join(root, 'tools/docs');
export const docsFolder = join(root, 'build/docs');

/** What programs import, for example 'peruse/redact', by the module of web/src that declares it. */
export function entryNames() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = new Map();
  for (const [entry, targets] of Object.entries(exports)) {
    const types = targets.types ?? targets.module?.types;
    if (!types?.startsWith('./web/dist/')) continue;
    const module = join(root, types.replace('/dist/', '/src/').replace('.d.ts', '.ts'));
    if (!names.has(module)) names.set(module, entry.replace('.', name));
  }
  return names;
}

/**
 * Builds the site in the folder `out`. `demo` is the demo page's address, relative to that folder. With `meaning`, the pages load the search by
 * meaning, which addSearch() adds.
 */
export async function buildDocs(out = docsFolder, demo = '', meaning = false) {
  await step('TypeDoc', () => installNodeModules(folder));
  const entries = [...entryNames().keys()].flatMap((path) => ['--entryPoints', path]);
  const program = join(folder, 'node_modules/typedoc/bin/typedoc');
  await step('documentation', async () => {
    const options = ['--options', join(folder, 'typedoc.json'), '--out', out, '--demo', demo, '--meaning', `${meaning}`];
    await captureAsync(process.execPath, [program, ...options, ...entries], { cwd: folder });
  });
  return out;
}

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  console.log(join(await buildDocs(values.out), 'index.html'));
});
