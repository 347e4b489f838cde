// A lock file for processes and threads that share a folder. Its holder touches it regularly, so that an abandoned lock is recognised. If
// two processes hold it nevertheless, both download the file, and the stored file is still valid.
import { rmSync } from 'node:fs';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted, unlessAborted } from '../errors.js';
import { Late, patience, within } from '../patience.js';
import { lock } from './locks.js';
import { makeFolder } from './write_file_node.js';

const kTouchEvery = 2000;
const kStaleAfter = 10_000;
const kAskEvery = 100;

export async function lockFile(path: string, signal: AbortSignal): Promise<() => void> {
  const releaseHere = await lock(path, signal);
  const waiting = waitFor(path, signal);
  let made = false;
  try {
    made = await unlessAborted(within(patience.lock + patience.cache, waiting), signal);
  } catch (error) {
    // removes a lock file that is created after the time limit
    waiting.then((madeLate) => (madeLate ? rm(path, { force: true }) : undefined)).catch(() => {});
    if (!(error instanceof Late)) {
      releaseHere();
      throw error;
    }
  }
  if (!made) return releaseHere;
  const touching = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), kTouchEvery);
  touching.unref();
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    clearInterval(touching);
    try {
      rmSync(path, { force: true }); // at once, because the program may exit as soon as the model is loaded
    } catch {}
    releaseHere();
  };
}

/** Returns false if the file cannot be created or is never released. */
async function waitFor(path: string, signal: AbortSignal): Promise<boolean> {
  const end = Date.now() + patience.lock;
  try {
    await makeFolder(dirname(path));
    while (Date.now() < end) {
      if (await make(path)) return true;
      if (await isLeft(path)) await rm(path, { force: true });
      else await sleep(kAskEvery);
      throwIfAborted(signal);
    }
  } catch {
    throwIfAborted(signal);
  }
  return false;
}

async function make(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid} ${hostname()}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isLeft(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return false; // released meanwhile, so not abandoned
  if (Math.abs(Date.now() - found.mtimeMs) > kStaleAfter) return true; // in either direction: the clock of the lock's host may be ahead
  const [pid, host] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
  return host === hostname() && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // tests whether the process exists, without a signal
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
