// Runs tests that a mutant may keep from ending. They are ended by what they do, never by the clock, so that a loaded machine kills no mutant.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { root } from '../setup/root.mjs';

const kNice = '5';
const kLook = 1000; // ms between two looks at the processes
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

/** State, parent, group and session of a process or thread, of its file `stat`. */
function fieldsOf(path) {
  const stat = orElse('', () => readFileSync(`${path}/stat`, 'utf8'));
  return stat.slice(stat.lastIndexOf(')') + 2).split(' '); // a name may hold anything
}

/** The processes of a session (Linux), or its first one, with those of its group. */
function processesOf(session) {
  const all = orElse([], () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)));
  return [-session, ...all.filter((name) => fieldsOf(`/proc/${name}`)[3] === String(session))];
}

function kill(session) {
  for (const pid of processesOf(session)) orElse(false, () => process.kill(Number(pid), 'SIGKILL'));
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    running.forEach(kill);
    process.exit(130);
  });
}

/** Whether a thread of the session computes, or wants to, or reads from a disk. */
function isAwake(session) {
  return processesOf(session).some((pid) => {
    const threads = orElse([], () => readdirSync(`/proc/${pid}/task`));
    return threads.some((thread) => /^[RD]/.test(fieldsOf(`/proc/${pid}/task/${thread}`)[0]));
  });
}

/**
 * Runs a program at low priority. Ends it when one of its processes has computed for `seconds` (infinite by default), or all sleep for a minute.
 * Returns whether it succeeded.
 */
export function succeeds(program, args, { cwd = root, env = {}, seconds = Number.POSITIVE_INFINITY, output = 'ignore' } = {}) {
  const limited = `ulimit -c 0; ${seconds < Number.POSITIVE_INFINITY ? `ulimit -t ${Math.ceil(seconds)};` : ''} exec nice -n ${kNice} "$@"`;
  const child = spawn('sh', ['-c', limited, 'sh', program, ...args], {
    cwd,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
    detached: true, // a session of its own
  });
  running.add(child.pid);
  let asleep = 0;
  const looks = existsSync('/proc/self/stat') // Linux; elsewhere only Vitest's own limit ends tests that wait
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
