// Finds an Emscripten of at least kMinimum, or installs one.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cachedFolder } from './cache.mjs';
import { unpackEmscripten } from './emscripten_debian.mjs';
import { capture, run, tryCapture, which } from './exec.mjs';

const kMinimum = '3.1.69';

export function atLeast(version, minimum) {
  const a = version.split('.').map(Number);
  const b = minimum.split('.').map(Number);
  for (let i = 0; i < b.length; ++i) if (a[i] !== b[i]) return a[i] > b[i];
  return true;
}

function versionOf(emcc) {
  return /\b(\d+\.\d+\.\d+)\b/.exec(tryCapture(emcc, ['--version']) ?? '')?.[1];
}

function rootOf(emcc) {
  const own = dirname(realpathSync(emcc));
  if (existsSync(join(own, 'emcc.py'))) return own;
  if (existsSync('/usr/share/emscripten/emcc.py')) return '/usr/share/emscripten';
  throw new Error(`${emcc}: its Emscripten folder was not found`);
}

function existing() {
  const candidates = [which('emcc')];
  if (process.env.EMSDK) candidates.unshift(join(process.env.EMSDK, 'upstream/emscripten/emcc'));
  for (const emcc of candidates) {
    const version = emcc && existsSync(emcc) && versionOf(emcc);
    if (version && atLeast(version, kMinimum)) return { root: rootOf(emcc), note: `${version}, already installed` };
  }
  return undefined;
}

/** On Debian 12 unpacks packages into the cache; elsewhere uses emsdk. Returns { root, note }. */
export function findEmscripten(system) {
  const found = existing();
  if (found) return found;
  if (system?.id === 'debian' && system.release === 12) return unpackEmscripten();
  const { folder } = cachedFolder('emsdk', kMinimum, (partial) => {
    run('git', ['clone', '-q', '--depth', '1', '--branch', kMinimum, 'https://github.com/emscripten-core/emsdk.git', partial]);
    capture(join(partial, 'emsdk'), ['install', kMinimum]);
  });
  capture(join(folder, 'emsdk'), ['activate', kMinimum]); // writes the folder's path into its configuration
  return { root: join(folder, 'upstream/emscripten'), note: `${kMinimum} from emsdk` };
}
