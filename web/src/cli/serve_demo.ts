import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeError, PeruseError } from '../errors.js';
import { type Command, flag, number, text, UsageError } from './command.js';
import { type DemoModels, filesWithModels, findDemoModels } from './demo_models.js';
import { serveFolders } from './static_server.js';

const inPackage = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

export const serveDemo: Command = {
  summary: 'Serve the demo page on this machine, until interrupted',
  usage: '',
  details: `The models of the page are in the npm package peruse-demo (9 MB). If it is not installed, npm fetches it
once, into the cache folder. With --models nothing is fetched. With --host 0.0.0.0 other devices of your network,
such as a phone, can open the page. They get it by plain http, on which browsers offer neither threads nor storage;
it works on one thread.`,
  options: {
    port: { type: 'string', short: 'p', value: 'n', help: 'port to listen on (8000); 0 means any free port' },
    host: { type: 'string', value: 'address', help: 'address to listen on (127.0.0.1); 0.0.0.0 means every address of this machine' },
    models: { type: 'string', value: 'folder', help: 'a folder with the demo models, instead of peruse-demo' },
    'no-isolation': { type: 'boolean', help: 'omit the headers that threads require' },
  },
  async run(positionals, values, io) {
    if (positionals.length > 0) throw new UsageError(`'${positionals[0]}' is too much`);
    const port = number(values, 'port') ?? 8000;
    if (!Number.isInteger(port) || port < 0 || port > 65535) throw new UsageError(`--port takes a number from 0 to 65535, not '${port}'`);
    const page = inPackage('web/demo');
    if (!existsSync(`${page}/index.html`))
      throw new PeruseError('not_found', 'This build of the package contains no demo page. Run `npm run build` to make it.');
    const models = namedModels(text(values, 'models')) ?? (await findDemoModels(io));

    const folders = {
      '/': page,
      '/peruse/': inPackage('web/bundle'),
      '/docs/': inPackage('docs'),
      ...(models.folder === undefined ? {} : { '/models/': models.folder }),
    };
    const host = text(values, 'host') ?? '127.0.0.1';
    const generated = { '/files.json': filesWithModels(page, models.folder) };
    const served = await serveFolders(folders, { port, host, generated, isolated: !flag(values, 'no-isolation') }).catch(
      (error: unknown) => {
        throw new PeruseError('network', `Port ${port} of ${host} can't be used: ${describeError(error)}.`, { cause: error });
      },
    );
    if (models.why !== undefined) {
      io.err(`The page has no demo models: peruse-demo could not be fetched (${models.why}).
Install it (npm install peruse-demo), name a folder with --models, or choose a model in the page.\n`);
    }
    io.out(served.url);
    for (const url of served.urlsForOthers) io.out(`${url}   from other devices of your network`);
    await new Promise(() => {}); // never resolves: the server runs until it is interrupted
  },
};

function namedModels(folder: string | undefined): DemoModels | undefined {
  if (folder === undefined) return undefined;
  if (!existsSync(folder)) throw new PeruseError('not_found', `There is no folder '${folder}'.`);
  return { folder };
}
