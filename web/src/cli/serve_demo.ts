import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defaultCacheFolder } from '../cache/cache_node.js';
import { makeFolder } from '../cache/write_file_node.js';
import { describeError, PeruseError } from '../errors.js';
import { type Command, flag, number, text, UsageError } from './command.js';
import type { Io } from './io.js';
import { serveFolders } from './static_server.js';

// The demo models: in the package peruse-demo, which npm downloads the first time.

const kName = 'peruse-demo';
const kPackage = fileURLToPath(new URL('../../../', import.meta.url));
const kMostWords = 400;

type DemoModels = { folder: string; why?: undefined } | { folder?: undefined; why: string };

/** Searches this repository and installed packages; otherwise npm installs peruse-demo into the cache folder. */
async function findDemoModels(io: Io): Promise<DemoModels> {
  const own = join(kPackage, 'models');
  if (existsSync(own)) return { folder: own };
  const installed = installedFrom(join(process.cwd(), 'x.js')) ?? installedFrom(join(kPackage, 'x.js'));
  if (installed !== undefined) return { folder: installed };
  const { version } = JSON.parse(readFileSync(join(kPackage, 'package.json'), 'utf8')) as { version: string };
  const place = join(dirname(defaultCacheFolder()), `demo-${version}`);
  const kept = installedFrom(join(place, 'x.js'));
  if (kept !== undefined) return { folder: kept };
  io.err(`Fetching the demo models (${kName} ${version}, 10 MB) from npm, once.\n`);
  const why = await fetchPackage(`${kName}@${version}`, place).catch(describeError);
  const fetched = installedFrom(join(place, 'x.js'));
  return fetched === undefined ? { why: why || `npm installed no ${kName}.` } : { folder: fetched };
}

function installedFrom(path: string): string | undefined {
  try {
    return join(dirname(createRequire(pathToFileURL(path)).resolve(`${kName}/package.json`)), 'models');
  } catch {
    return undefined;
  }
}

async function fetchPackage(name: string, place: string): Promise<string> {
  await makeFolder(place);
  // Errors only, because npm's warnings may be longer than the error. (With npm -s, a started npm prints nothing.)
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=0', '--loglevel=error'];
  const args = ['install', '--prefix', place, ...quiet, name];
  const npm = process.env.npm_execpath; // set if npx runs this program
  const child =
    npm !== undefined && /[\\/]np[mx]-cli\.js$/.test(npm)
      ? spawn(process.execPath, [npm.replace(/npx-cli\.js$/, 'npm-cli.js'), ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
      : spawn('npm', args, { stdio: ['ignore', 'ignore', 'pipe'], shell: process.platform === 'win32' });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    words += more;
  });
  const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
  return code === 0 ? '' : reasonOf(words) || `npm ended with ${code}.`;
}

/** The lines of npm's error, without prefix, stack and log path. */
function reasonOf(words: string): string {
  const lines = words.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trimEnd());
  return lines
    .filter((line) => line !== '' && !/^ +at |complete log/.test(line) && !/^(syscall|errno) /.test(line))
    .join('; ')
    .slice(0, kMostWords);
}

interface Listed {
  version: string;
  inUse: string[];
  bytesInUse: number;
  sha256: Record<string, string>;
}

/** The page's files.json (tools/site.mjs) with the models' files added to the list for the service worker. */
function filesWithModels(page: string, models: string | undefined): string {
  const listed = JSON.parse(readFileSync(join(page, 'files.json'), 'utf8')) as Listed;
  if (models === undefined) return JSON.stringify(listed);
  const found = readdirSync(models, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(json|safetensors)$/.test(file))
    .sort();
  const files = found.map((file) => ({ file: `models/${file}`, stats: statSync(join(models, file)) }));
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  const version = files.reduce((hash, { stats }) => (hash * 31 + stats.size + Math.floor(stats.mtimeMs)) % 0xffffffff, 7).toString(16);
  return JSON.stringify({
    ...listed,
    version: `${listed.version}-${version}`,
    inUse: [...listed.inUse.filter((file) => !file.startsWith('models/')), ...files.map(({ file }) => file)],
    bytesInUse: listed.bytesInUse + bytes,
    sha256: {
      ...listed.sha256,
      ...Object.fromEntries(files.map(({ file }) => [file, digestOf(join(models, file.slice('models/'.length)))])),
    },
  });
}

/** A page with links to the package's modules. */
function listOfModules(folder: string): string {
  const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.js'))
    .sort();
  const items = modules.map((file) => `<li><a href="./${file}">${file}</a></li>`).join('\n');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Peruse's modules</title><h1>Peruse's modules</h1><ul>\n${items}\n</ul></html>`;
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

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
    const named = namedModels(text(values, 'models'));
    const page = inPackage('web/demo');
    if (!existsSync(`${page}/index.html`))
      throw new PeruseError('not_found', 'This build of the package contains no demo page. Run `npm run build` to make it.');
    const models = named ?? (await findDemoModels(io));

    const folders = {
      '/': page,
      '/peruse/': inPackage('web/bundle'),
      '/docs/': inPackage('docs'),
      '/source/': inPackage('web/dist'),
      ...(models.folder === undefined ? {} : { '/models/': models.folder }),
    };
    const host = text(values, 'host') ?? '127.0.0.1';
    const generated = { '/files.json': filesWithModels(page, models.folder), '/source/index.html': listOfModules(inPackage('web/dist')) };
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
