// peruse serve-demo: the demo page on this machine.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, PeruseError } from '../errors.js';
import { type Command, flag, number, text, UsageError } from './command.js';
import { serveFolders } from './static_server.js';

const inPackage = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

export const serveDemo: Command = {
  summary: 'Serve the demo page on this machine, until interrupted',
  usage: '',
  details: `The npm package holds the page and the engine, but no models: choose one in the page (a hub id, a URL, or files), or
name a folder that holds those of the repository.`,
  options: {
    port: { type: 'string', short: 'p', value: 'n', help: 'where to listen (8000); 0 for any free port' },
    models: { type: 'string', value: 'folder', help: "the repository's folder models" },
    'no-isolation': { type: 'boolean', help: 'without the headers that threads need' },
  },
  async run(positionals, values, io) {
    if (positionals.length > 0) throw new UsageError(`'${positionals[0]}' is too much`);
    const page = inPackage('web/demo');
    if (!existsSync(`${page}/index.html`))
      throw new PeruseError('not_found', 'This build of the package holds no demo page: npm run build makes it.');
    const models = text(values, 'models') ?? inPackage('models');
    const hasModels = existsSync(models);
    if (text(values, 'models') !== undefined && !hasModels) throw new PeruseError('not_found', `There is no folder '${models}'.`);
    const port = number(values, 'port') ?? 8000;
    if (!Number.isInteger(port) || port < 0 || port > 65535) throw new UsageError(`--port takes a number from 0 to 65535, not '${port}'`);

    const folders = {
      '/': page,
      '/peruse/': inPackage('web/bundle'),
      ...(hasModels ? { '/models/': models } : {}),
    };
    const { url } = await serveFolders(folders, { port, isolated: !flag(values, 'no-isolation') }).catch((error: unknown) => {
      throw new PeruseError('network', `Port ${port} can't be used: ${describe(error)}.`, { cause: error });
    });
    if (!hasModels) io.err('No models are served: choose one in the page, or name a folder with --models.\n');
    io.out(url);
    await new Promise(() => {}); // Until interrupted.
  },
};
