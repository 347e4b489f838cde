// A lock on an entry of the cache: a file, stale if the process that created it has ended.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

const kAskEvery = 200;
const kForgottenAfter = 3600e3; // milliseconds, for locks of other machines, whose processes cannot be checked

function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function take(path) {
  try {
    writeFileSync(path, `${process.pid} ${hostname()}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0); // tests whether the process exists
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

function isLeft(path) {
  try {
    const [pid, host] = readFileSync(path, 'utf8').split(' ');
    const age = Date.now() - statSync(path).mtimeMs;
    if (host === undefined) return age > 1000; // empty: its creator was killed before writing
    return host === hostname() ? !isAlive(Number(pid)) : age > kForgottenAfter;
  } catch (error) {
    if (error.code === 'ENOENT') return false; // just released
    throw error;
  }
}

function clear(path) {
  const left = `${path}.left-${process.pid}`;
  try {
    renameSync(path, left);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  rmSync(left, { force: true });
}

export function withLock(path, action) {
  mkdirSync(dirname(path), { recursive: true });
  for (let said = false; !take(path); sleep(kAskEvery)) {
    if (isLeft(path)) clear(path);
    else if (!said && existsSync(path)) {
      process.stdout.write('waiting for another set-up ... ');
      said = true;
    }
  }
  try {
    return action();
  } finally {
    rmSync(path, { force: true });
  }
}
