import { execFile, spawnSync } from 'node:child_process';

/** Runs `command` and returns its standard output. Throws with its standard error if it fails. */
export function capture(command, args = [], options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) throw failure(command, args, result.status ?? result.signal, result.stderr + result.stdout);
  return result.stdout;
}

export function captureAsync(command, args = [], options = {}) {
  return new Promise((resolve, reject) => {
    execFile(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options }, (error, stdout, stderr) => {
      if (error) reject(failure(command, args, error.code ?? error.signal, stderr + stdout));
      else resolve(stdout);
    });
  });
}

function failure(command, args, status, words) {
  const lines = words.trim().split('\n');
  // Compilers print the cause last, npm prints it first.
  const told = lines.length <= 40 ? lines : [...lines.slice(0, 15), '...', ...lines.slice(-25)];
  return new Error(`${command} ${args.join(' ')} failed (${status}):\n${told.join('\n')}`);
}

export function run(command, args = [], options = {}) {
  const result = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed (${result.status ?? result.signal})`);
}

export function tryCapture(command, args = [], options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', ...options });
  return result.error || result.status !== 0 ? undefined : result.stdout;
}

export function which(program) {
  return tryCapture('sh', ['-c', 'command -v "$1"', 'sh', program])?.trim() || undefined;
}

export function asRoot(command, args) {
  return process.getuid() === 0 ? [command, args] : ['sudo', [command, ...args]];
}
