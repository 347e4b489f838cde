#!/usr/bin/env node
// Looks at the packages as a release would publish them: npm run release:check [-- --tag v1.2.3]. Takes the packages as they are built.
//   version            the same in all packages; with --tag also in the tag, and at the head of CHANGELOG.md
//   publint, attw      what bundlers, Node and TypeScript find in the packed files
//   size-limit         what a page downloads (tools/release/size-limit.json)
//   knip               files, exports and dependencies of web/src that nothing uses (tools/release/knip.json)
//   npm publish        --dry-run of each
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackagedDemo } from './packaged_demo.mjs';
import { checkVersions } from './release/version.mjs';
import { captureAsync } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { packPackages } from './tarball.mjs';

const kTools = join(root, 'tools/release');

/** Adapters, bundles and scripts of workers are modules only; a script that starts as a worker has no types. */
const kTypesChecked = ['--ignore-rules', 'cjs-resolves-to-esm', '--exclude-entrypoints', './isolate-worker.js'];

const tool = (name, args, cwd = root) => captureAsync(process.execPath, [join(kTools, 'node_modules', name), ...args], { cwd });

async function check(name, work) {
  try {
    await step(name, work);
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({ options: { tag: { type: 'string' } } });
  let tarballs = [];
  await step('tools', () => installNodeModules(kTools));
  await step('demo page', buildPackagedDemo);
  await step('packages', async () => {
    tarballs = await packPackages();
  });
  const results = [await check('versions', () => checkVersions(tarballs, values.tag))];
  for (const file of tarballs) {
    results.push(await check(`publint ${basename(file)}`, async () => void (await tool('publint/src/cli.js', ['run', file, '--strict']))));
  }
  const library = tarballs.find((file) => /^peruse-\d/.test(basename(file)));
  results.push(await check('attw', async () => void (await tool('@arethetypeswrong/cli/dist/index.js', [library, ...kTypesChecked]))));
  // Looks for its plugins in the package.json of the working directory.
  results.push(await check('size-limit', async () => void (await tool('size-limit/bin.js', ['--config', 'size-limit.json'], kTools))));
  const unused = ['-c', 'tools/release/knip.json', '--no-progress'];
  results.push(await check('knip', async () => void (await tool('knip/bin/knip.js', unused))));
  for (const file of tarballs) {
    const publish = ['publish', file, '--dry-run', '--access', 'public', '--tag', 'check'];
    results.push(
      await check(`npm publish --dry-run ${basename(file)}`, async () => void (await captureAsync('npm', publish, { cwd: root }))),
    );
  }
  const passed = results.filter(Boolean).length;
  console.log(`\n${passed} passed, ${results.length - passed} failed`);
  if (passed < results.length) process.exitCode = 1;
});
