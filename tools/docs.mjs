#!/usr/bin/env node
// Makes the API reference from the docstrings: npm run docs. It goes to build/docs.
import { join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { run } from './setup/exec.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';

const folder = join(root, 'tools/docs');

await runAsProgram(import.meta.url, async () => {
  await step('TypeDoc', () => installNodeModules(folder));
  run(process.execPath, [join(folder, 'node_modules/typedoc/bin/typedoc'), '--options', join(folder, 'typedoc.json')], { cwd: folder });
  console.log('The API reference is in build/docs/index.html');
});
