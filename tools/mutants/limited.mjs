// Runs tests that a mutant may keep from ending. They are ended by what they do, never by the clock, so that a loaded machine kills no mutant.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { root } from '../setup/root.mjs';

const kNice = '5';
const kLook = 1000; // ms between two looks at a group of processes
const kAsleep = 60; // looks in a row at which nothing computes: the tests wait for what never happens

const running = new Set();

/** Calls `look`; a process may have ended meanwhile. */
function orElse(nothing, look) {
  try {
    return look();
  } catch {
    return nothing;
  }
}

const kill = (group) => orElse(false, () => process.kill(-group, 'SIGKILL'));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    running.forEach(kill);
    process.exit(130);
  });
}

/** State, parent and group of a process or thread, of its file `stat`. */
function fieldsOf(path) {
  const stat = orElse('', () => readFileSync(`${path}/stat`, 'utf8'));
  return stat.slice(stat.lastIndexOf(')') + 2).split(' '); // a name may hold anything
}

/** Whether a thread of the group computes, or wants to, or reads from a disk. Linux only. */
function isAwake(group) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && fieldsOf(`/proc/${name}`)[2] === String(group));
  return processes.some((pid) => {
    const threads = orElse([], () => readdirSync(`/proc/${pid}/task`));
    return threads.some((thread) => /^[RD]/.test(fieldsOf(`/proc/${pid}/task/${thread}`)[0]));
  });
}

/**
 * Runs a program at low priority. Ends it when one of its processes has computed for `seconds` (0: no limit), or all of them sleep for a minute.
 * Returns whether it succeeded.
 */
export function succeeds(program, args, { cwd = root, env = {}, seconds = 0, output = 'ignore' } = {}) {
  const limited = `ulimit -c 0; ${seconds > 0 ? `ulimit -t ${Math.ceil(seconds)};` : ''} exec nice -n ${kNice} "$@"`;
  const child = spawn('sh', ['-c', limited, 'sh', program, ...args], {
    cwd,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
    detached: true, // a group of its own
  });
  running.add(child.pid);
  let asleep = 0;
  const looks = existsSync('/proc/self/stat')
    ? setInterval(() => {
        asleep = isAwake(child.pid) ? 0 : asleep + 1;
        if (asleep === kAsleep) kill(child.pid);
      }, kLook)
    : undefined;
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (status) => {
      clearInterval(looks);
      running.delete(child.pid);
      kill(child.pid); // what the tests have started
      resolve(status === 0);
    });
  });
}
