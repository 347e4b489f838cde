// A lock among the processes and threads that share a folder: a file that one of them makes. Its maker touches it while it holds it,
// so that one left behind is known. Should two hold it nevertheless, both download, and what is stored is still whole.
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted } from '../errors.js';
import { patience } from '../patience.js';
import { lock } from './locks.js';
import { makeFolder } from './make_folder_node.js';

const kTouchEvery = 2000;
const kStaleAfter = 10_000;
const kAskEvery = 100;

/** Waits for the lock; gives the function that lets go of it. Where no lock can be had, one goes on without. */
export async function lockFile(path: string, signal: AbortSignal): Promise<() => void> {
  const releaseHere = await lock(path, signal);
  let made: boolean;
  try {
    made = await waitFor(path, signal);
  } catch (error) {
    releaseHere();
    throw error;
  }
  if (!made) return releaseHere;
  const touching = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), kTouchEvery);
  touching.unref();
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    clearInterval(touching);
    void rm(path, { force: true })
      .catch(() => {})
      .finally(releaseHere);
  };
}

/** False where the file can't be made, or nobody lets go of it. */
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

/** False if it is there. */
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
  if (found === undefined) return false; // Just let go of.
  if (Math.abs(Date.now() - found.mtimeMs) > kStaleAfter) return true; // Also if its host's clock is ahead.
  const [pid, host] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
  return host === hostname() && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // Sends nothing.
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
