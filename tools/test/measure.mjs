// Runs a program and measures the processor time of it and of everything it starts.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { which } from '../setup/exec.mjs';
import { root } from '../setup/root.mjs';

const kWrapper = fileURLToPath(new URL('processor_time.py', import.meta.url));

/** Whether processor time can be measured here: the wrapper is a Python program. Found once. */
let python;

/** A suite that takes longer hangs: it is ended, in milliseconds. */
const kLongest = 25 * 60_000;
/** How long output is awaited after the command has ended, in milliseconds. */
const kPatience = 3000;

/**
 * Runs `command`, a list, in the root of the repository. `show` passes its output on; `keep` returns it.
 * Resolves to { status, output, processor }: the exit status, the output or '', and seconds of processor time (undefined without Python).
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
    // A process that the command left behind may hold the pipes open.
    child.on('exit', (code) => setTimeout(() => resolve(code ?? 1), kPatience).unref());
  });
  clearTimeout(end);
  for (const stream of child.stdio) stream?.destroy();
  return { status, output, processor: report === '' ? undefined : Number(report) };
}
