// Native tests of the development loop: without sanitizers, one program for each folder of tests/native.
import { spawn } from 'node:child_process';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { buildPreset } from '../build.mjs';
import { root } from '../setup/root.mjs';

const kPreset = 'native-dev';
const kAtOnce = 2; // processes per program
const kQuiet = 100; // milliseconds, because editors write a file in several steps

/** Folders of core whose tests are in a folder of another name. */
const kTestedBy = {
  api: ['tasks'],
  backend: ['backend', 'ops'],
  cpu: ['cpu', 'ops'],
  families: ['models'],
  formats: ['weights', 'models'],
  heads: ['models', 'tasks'],
  model: ['models'],
  tensor: ['ops'],
};

export const kFolders = readdirSync(join(root, 'tests/native'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The test folders of a C++ file, named from the root; empty for other files. */
export function foldersFor(path) {
  const [, top, folder] = /^(core|tests\/native)\/(\w+)\/.*\.(?:cc|h|inc|wgsl)$/.exec(path) ?? [];
  if (folder === undefined) return [];
  return (top === 'core' && kTestedBy[folder]) || [folder];
}

const running = new Set();

function stop() {
  for (const child of running) child.kill();
}

/** Runs a share of a folder's tests. Returns { status, output }. */
function runShare(folder, share, filter) {
  const env = {
    ...process.env,
    GTEST_TOTAL_SHARDS: `${kAtOnce}`,
    GTEST_SHARD_INDEX: `${share}`,
    GTEST_COLOR: process.stdout.isTTY ? '1' : '0',
  };
  const program = join(root, 'build', kPreset, `peruse_${folder}_tests`);
  const child = spawn(program, ['--gtest_brief=1', `--gtest_filter=${filter}`], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => {
    child.on('close', (status, signal) => {
      running.delete(child);
      resolve({ status, signal, output });
    });
  });
}

/** Builds and runs the tests of folders. Returns whether all passed. */
export async function runNative(folders, filter = '*') {
  const start = performance.now();
  const took = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    buildPreset(
      kPreset,
      folders.map((folder) => `peruse_${folder}_tests`),
    );
  } catch (error) {
    console.log(`${error.message}\n${folders.join(', ')}: does not compile (${took()})`);
    return false;
  }
  const built = took();
  let passed = 0;
  for (const folder of folders) {
    const shares = await Promise.all(Array.from({ length: kAtOnce }, (_, share) => runShare(folder, share, filter)));
    if (shares.some(({ signal }) => signal === 'SIGTERM')) return false; // a newer edit took over
    const failed = shares.filter(({ status }) => status !== 0);
    if (failed.length > 0) {
      console.log(`${failed.map(({ output }) => output).join('')}\n${folder}: FAILED (built in ${built}, ${took()} in all)`);
      return false;
    }
    passed += shares.reduce((sum, { output }) => sum + Number(/PASSED.*?(\d+) test/.exec(output)?.[1] ?? 0), 0);
  }
  console.log(`${folders.join(', ')}: ${passed} tests passed (built in ${built}, ${took()} in all)`);
  return true;
}

/** Runs tests after each edit: those of the edited file, or with `only` those of these folders. */
export function watchNative(only, filter) {
  let edited = new Set();
  let timer;
  let work = Promise.resolve();
  const run = () => {
    const folders = [...edited];
    edited = new Set();
    stop();
    work = work.then(() => runNative(folders, filter));
  };
  for (const top of ['core', 'tests/native']) {
    watch(join(root, top), { recursive: true }, (_, name) => {
      const folders = foldersFor(`${top}/${name?.replaceAll('\\', '/')}`);
      if (folders.length === 0) return;
      for (const folder of only ?? folders) edited.add(folder);
      clearTimeout(timer);
      timer = setTimeout(run, kQuiet);
    });
  }
}
