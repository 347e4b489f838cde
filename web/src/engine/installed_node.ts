// Where the package's own files lie in Node.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

let folder: string | undefined;

/** The URL of a file of the installed package, named from its folder web/. Not by new URL(): no bundler is to follow it. */
export function installedFile(path: string): URL {
  folder ??= besideThis() ?? inProject();
  return pathToFileURL(join(folder, path));
}

function besideThis(): string | undefined {
  if (!import.meta.url?.startsWith('file:')) return undefined;
  const web = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  return existsSync(join(web, 'bundle')) ? web : undefined;
}

/** Where a bundler has put this code into a program's own file, the package itself is still installed beside the program. */
function inProject(): string {
  const manifest = createRequire(join(process.cwd(), 'package.json')).resolve('peruse/package.json');
  return join(dirname(manifest), 'web');
}
