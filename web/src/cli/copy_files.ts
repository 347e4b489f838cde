import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeError, PeruseError } from '../errors.js';
import { type Command, needed, UsageError } from './command.js';

/** Scripts that are loaded by address, and the engine's builds. Other bundles are imported. */
const kLoadedLater = /^peruse-(?:(?:teach-|isolate-)?worker|host|gpu|onnx|redact-kit|extras|search|files)\.js$|^peruse-[\w-]+\.wasm$/;

export const copyFiles: Command = {
  summary: "Copy the package's workers and engine builds to a folder that your server serves",
  usage: '<folder>',
  details: `For bundlers that omit these files (esbuild, Rollup, Angular, bun build). Afterwards set env.filesPath to the
folder's address. Run the command again when you update the package: files of the same names are replaced. A page loads
only the files that it needs.`,
  options: {},
  async run(positionals, _values, io) {
    const [folder, ...rest] = needed(positionals, ['folder']);
    if (folder.trim() === '') throw new UsageError('<folder> is empty');
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const bundle = fileURLToPath(new URL('../../bundle', import.meta.url));
    const names = (await readdir(bundle)).filter((name) => kLoadedLater.test(name)).sort();
    let bytes = 0;
    try {
      await mkdir(folder, { recursive: true });
      for (const name of names) {
        await copyFile(join(bundle, name), join(folder, name));
        bytes += (await stat(join(bundle, name))).size;
      }
    } catch (error) {
      throw new PeruseError('invalid_argument', `The files can't be copied to '${folder}': ${describeError(error)}`, { cause: error });
    }
    io.out(JSON.stringify({ folder, files: names, bytes }));
    io.err(`${hint(folder)}\n`);
  },
};

/** Returns advice on setting the address. Servers publish folders called public or static as the root of the site. */
function hint(folder: string): string {
  const path = folder.replaceAll('\\', '/').replace(/^\.?\/+|\/+$/g, '');
  const served = /(?:^|\/)(?:public|static)\/(.+)$/.exec(path)?.[1];
  const address = served === undefined ? "the folder's address" : `'/${served}/'`;
  return `Now set, before you load a pipeline: import { env } from 'peruse'; env.filesPath = ${address};`;
}
