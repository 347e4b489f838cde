#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
// Tests the packed package in apps of frameworks and tools: node tools/hosts.mjs [host ...] [--some] [--list] [--tarball file]
// Without names: all of them. A host is a file tests/packaging/hosts/<host>.test.ts; the app and its pinned packages are in the folder of its
// name and are installed by this program. --some (continuous integration): eight hosts, chosen by the hash of the commit; all hosts if the
// commit, or the work since it, changes what the hosts see. The package must have been built; or --tarball names a packed one. Last line: "<n> passed, <n> failed".
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';

const kFolder = join(root, 'tests/packaging/hosts');
const kWork = join(root, 'tests/packaging/work');

/** Hosts in one run of continuous integration. */
const kSome = 8;

/** Changes to these make it all hosts: packaging, workers, bundles, and where files are looked for. */
const kSeenByHosts = [
  'package.json',
  'tests/packaging/',
  'tools/bundle',
  'tools/hosts.mjs',
  'web/src/engine/files_browser.ts',
  'web/src/engine/installed_node.ts',
  'web/src/index',
  'web/src/inline/',
  'web/src/platform/',
  'web/src/worker/',
];

export const kHosts = readdirSync(kFolder)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -'.test.ts'.length))
  .sort();

/** Some hosts, others for each commit. */
export function chooseHosts(commit, hosts = kHosts, count = kSome) {
  const rank = (host) => createHash('sha256').update(`${commit} ${host}`).digest('hex');
  return [...hosts].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, count);
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout : '';
}

/** Whether the newest commit, or what is not committed, changes what hosts see. */
function hostsAreConcerned() {
  const changed = [git('diff', '--name-only', 'HEAD~1'), git('ls-files', '--others', '--exclude-standard')].join('\n').split('\n');
  return changed.some((path) => kSeenByHosts.some((prefix) => path.startsWith(prefix)));
}

/** The folder in which a host's test makes its app gets the host's packages. */
function install(host) {
  const lock = join(kFolder, host, 'package-lock.json');
  if (!existsSync(lock)) return;
  const folder = join(kWork, host);
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(kFolder, host, name), join(folder, name));
  installNodeModules(folder);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { some: { type: 'boolean' }, list: { type: 'boolean' }, tarball: { type: 'string' } },
  });
  const unknown = positionals.find((name) => !kHosts.includes(name));
  if (unknown !== undefined) throw new Error(`no host '${unknown}'; there are ${kHosts.join(', ')}`);
  const isSome = values.some && !hostsAreConcerned();
  const hosts = positionals.length > 0 ? positionals : isSome ? chooseHosts(git('rev-parse', 'HEAD').trim()) : kHosts;
  console.log(`hosts: ${hosts.join(', ')}`);
  if (values.list) return;
  await step('packages of all hosts', () => installNodeModules(join(root, 'tests/packaging')));
  for (const host of hosts) await step(`packages of ${host}`, () => install(host));
  const env = { ...process.env, ...(values.tarball ? { PERUSE_TARBALL: resolve(values.tarball) } : {}) };
  const report = join(root, 'build/test-results/hosts.json');
  mkdirSync(join(root, 'build/test-results'), { recursive: true });
  rmSync(report, { force: true });
  const files = hosts.map((host) => `tests/packaging/hosts/${host}.test.ts`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync('npx', ['--no-install', 'vitest', 'run', '--project', 'hosts', ...reporters, ...files], {
    cwd: root,
    stdio: 'inherit',
    env,
  });
  if (!existsSync(report)) throw new Error('the tests ended without a report');
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = status !== 0 && numFailedTests === 0 ? 1 : numFailedTests;
  console.log(`${numPassedTests} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

await runAsProgram(import.meta.url, main);
