import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Calls `main` if the module at `url` was started as a program. Prints an error as one message, with exit code 1. */
export async function runAsProgram(url, main) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
