#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
// Tests the packed package in apps of frameworks and tools: node tools/hosts.mjs [host ...] [--some] [--list] [--tarball file]
// A host is a file tests/packaging/hosts/<name>.test.ts and an app in the folder <name>, with subfolders for versions, for example 'astro5'.
// This program installs the host's pinned packages. Without names: all hosts. --some: eight hosts, chosen by the hash of the commit, or all if
// the change affects what hosts use. The package must have been built, unless --tarball names one. Last line: "<n> passed, <n> failed".
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cachedFolder, sha256 } from './setup/cache.mjs';
import { capture } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installAllNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';

const kFolder = join(root, 'tests/packaging/hosts');
const kWork = join(root, 'tests/packaging/work');

const kSome = 8;

/** Changes to these paths select all hosts. */
const kSeenByHosts = [
  'docs/guides/cloudflare-workers.md',
  'docs/guides/react.md',
  'docs/guides/redact-before-a-model.md',
  'docs/guides/with-other-libraries.md',
  'package.json',
  'tests/packaging/',
  'tools/alias_package.mjs',
  'tools/bundle',
  'tools/hosts.mjs',
  'web/alias/',
  'web/src/adapters/',
  'web/src/engine/files_',
  'web/src/engine/installed_node.ts',
  'web/src/index',
  'web/src/inline/',
  'web/src/platform/',
  'web/src/transformers/',
  'web/src/worker/',
];

/** Every host: { host, name, version }, for example { host: 'astro5', name: 'astro', version: '5' }. */
export const kHosts = readdirSync(kFolder)
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.test.ts'.length))
  .flatMap((name) => versionsOf(name).map((version) => ({ host: name + version, name, version })));

function versionsOf(name) {
  const folder = join(kFolder, name);
  const versions = existsSync(folder) ? readdirSync(folder).filter((one) => /^[\d.]+$/.test(one)) : [];
  return versions.length > 0 ? versions : [''];
}

export function chooseHosts(commit, hosts = kHosts, count = kSome) {
  const rank = ({ host }) => createHash('sha256').update(`${commit} ${host}`).digest('hex');
  return [...hosts].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, count);
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

/**
 * Whether anything since the commit `base` changes what hosts see; true if `base` is unknown, for example in a shallow clone. PERUSE_BASE names the
 * last commit that was tested (.github/workflows); without it, only the newest commit and uncommitted changes count.
 */
export function hostsAreConcerned(base = process.env.PERUSE_BASE || 'HEAD~1') {
  const changed = git('diff', '--name-only', base, '--');
  if (changed === undefined) return true;
  const paths = [changed, git('ls-files', '--others', '--exclude-standard') ?? ''].join('\n').split('\n');
  return paths.some((path) => kSeenByHosts.some((prefix) => path.startsWith(prefix)));
}

/** Links tests/packaging/work/<host>/python_packages to the packages of the host's requirements.txt, which stay in the cache folder. */
function installPython({ host, name, version }) {
  const requirements = join(kFolder, name, version, 'requirements.txt');
  if (!existsSync(requirements)) return;
  const { folder } = cachedFolder(`python-${host}`, sha256(requirements), (partial) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes'];
    capture('python3', ['-m', 'pip', 'install', ...options, '--target', partial, '-r', requirements]);
  });
  const link = join(kWork, host, 'python_packages');
  mkdirSync(join(kWork, host), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(folder, link);
}

function prepare({ host, name, version }) {
  const from = join(kFolder, name, version);
  if (!existsSync(join(from, 'package-lock.json'))) return [];
  const folder = join(kWork, host);
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(from, file), join(folder, file));
  return [folder];
}

function named(word) {
  const hosts = kHosts.filter(({ host, name }) => word === host || word === name);
  if (hosts.length === 0) throw new Error(`Unknown host '${word}'. Hosts: ${kHosts.map(({ host }) => host).join(', ')}`);
  return hosts;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { some: { type: 'boolean' }, list: { type: 'boolean' }, tarball: { type: 'string' } },
  });
  const isSome = values.some && !hostsAreConcerned();
  const hosts =
    positionals.length > 0 ? positionals.flatMap(named) : isSome ? chooseHosts((git('rev-parse', 'HEAD') ?? '').trim()) : kHosts;
  const words = hosts.map(({ host }) => host);
  console.log(`hosts: ${words.join(', ')}`);
  if (values.list) return;
  await step('packages of the hosts', () => installAllNodeModules([join(root, 'tests/packaging'), ...hosts.flatMap(prepare)]));
  await step('Python packages of the hosts', () => hosts.forEach(installPython));
  const env = { ...process.env, PERUSE_HOSTS: words.join(','), ...(values.tarball ? { PERUSE_TARBALL: resolve(values.tarball) } : {}) };
  const report = join(root, 'build/test-results/hosts.json');
  mkdirSync(join(root, 'build/test-results'), { recursive: true });
  rmSync(report, { force: true });
  const files = [...new Set(hosts.map(({ name }) => `tests/packaging/hosts/${name}.test.ts`))];
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
