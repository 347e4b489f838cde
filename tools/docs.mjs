#!/usr/bin/env node
// Makes the documentation site in build/docs from docs/ and the docstrings: npm run docs. npm run demo serves it with the page.
import { join } from 'node:path';
import { run } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';

const folder = join(root, 'tools/docs');
export const docsFolder = join(root, 'build/docs');

export async function buildDocs() {
  await step('TypeDoc', () => installNodeModules(folder));
  run(process.execPath, [join(folder, 'node_modules/typedoc/bin/typedoc'), '--options', join(folder, 'typedoc.json')], { cwd: folder });
}

await runAsProgram(import.meta.url, async () => {
  await buildDocs();
  console.log('The documentation is in build/docs/index.html');
});
