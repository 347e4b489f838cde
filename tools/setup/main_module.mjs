// Whether a module was started by `node <it>` or imported by another.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Runs `main` if the module of `url` is the program; a failure is one message and exit code 1. */
export async function runAsProgram(url, main) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
