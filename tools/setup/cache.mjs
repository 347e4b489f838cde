// The cache of downloaded and unpacked files, in which a folder is complete or absent.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { withLock } from './lock.mjs';

export const cacheDir = process.env.PERUSE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'peruse');

/** The results of set-up, for the other tools and for cmake/environment.cmake. */
export const environmentFile = join(cacheDir, 'env.json');

export function readEnvironment() {
  return JSON.parse(readFileSync(environmentFile, 'utf8'));
}

export function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

export function verify(file, pin) {
  const actual = sha256(file);
  if (actual !== pin) throw new Error(`${file}: sha256 is ${actual}, expected ${pin}`);
}

/** Returns the folder `name` of the cache. `fill(folder)` makes it unless it exists for the same `key` (compared by `isSame`). */
export function cachedFolder(name, key, fill, isSame = (found) => found === key) {
  const folder = join(cacheDir, name);
  const stamp = join(folder, '.peruse-key');
  const isThere = () => existsSync(stamp) && isSame(readFileSync(stamp, 'utf8'));
  if (isThere()) return { folder, fresh: false };
  return withLock(`${folder}.lock`, () => {
    if (isThere()) return { folder, fresh: false };
    fillFolder(folder, key, fill);
    return { folder, fresh: true };
  });
}

function fillFolder(folder, key, fill) {
  const partials = `${basename(folder)}.partial-`;
  for (const name of readdirSync(dirname(folder)).filter((one) => one.startsWith(partials))) {
    rmSync(join(dirname(folder), name), { recursive: true, force: true }); // left by a killed process
  }
  const partial = join(dirname(folder), `${partials}${process.pid}`);
  mkdirSync(partial, { recursive: true });
  try {
    fill(partial);
    writeFileSync(join(partial, '.peruse-key'), key);
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** If `folder` contains only one folder, as most source archives do, moves its contents up. */
export function flatten(folder) {
  const entries = readdirSync(folder);
  if (entries.length !== 1 || !statSync(join(folder, entries[0])).isDirectory()) return;
  const inner = join(folder, '.inner');
  renameSync(join(folder, entries[0]), inner);
  for (const entry of readdirSync(inner)) renameSync(join(inner, entry), join(folder, entry));
  rmSync(inner, { recursive: true });
}
