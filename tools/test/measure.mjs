// Runs a program and measures its processor time, with all child processes.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { which } from '../setup/exec.mjs';
import { root } from '../setup/root.mjs';

const kWrapper = fileURLToPath(new URL('processor_time.py', import.meta.url));

let python;

/** Milliseconds after which a suite is ended. */
const kLongest = 25 * 60_000;
/** Milliseconds to wait for output after the command has ended. */
const kPatience = 3000;

/**
 * Runs `command` (a list) in the root of the repository. `show` prints its output, `keep` returns it. Returns { status, output, processor }:
 * exit status, output or '', and seconds of processor time (undefined without Python).
 */
export async function runMeasured(command, { env = process.env, show = true, keep = false } = {}) {
  python ??= process.platform === 'win32' ? false : which('python3');
  const [program, ...args] = python ? [python, kWrapper, ...command] : command;
  const out = keep ? 'pipe' : 'inherit';
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', out, out, python ? 'pipe' : 'ignore'] });
  let output = '';
  let report = '';
  for (const [stream, shown] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (show) shown.write(text);
    });
  }
  child.stdio[3]?.setEncoding('utf8').on('data', (text) => (report += text));
  const end = setTimeout(() => {
    console.error(`${command.join(' ')}: ended after ${kLongest / 60_000} minutes`);
    child.kill();
  }, kLongest);
  const status = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve(code ?? 1));
    // A process that the command left running may hold the pipes open.
    child.on('exit', (code) => setTimeout(() => resolve(code ?? 1), kPatience).unref());
  });
  clearTimeout(end);
  for (const stream of child.stdio) stream?.destroy();
  return { status, output, processor: report === '' ? undefined : Number(report) };
}
