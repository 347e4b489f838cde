// Finds the demo models for `peruse serve-demo`: in the package peruse-demo, which npm downloads the first time.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defaultCacheFolder } from '../cache/cache_node.js';
import { makeFolder } from '../cache/make_folder_node.js';
import { describeError } from '../errors.js';
import type { Io } from './io.js';

const kName = 'peruse-demo';
const kPackage = fileURLToPath(new URL('../../../', import.meta.url));
const kMostWords = 400;

export type DemoModels = { folder: string; why?: undefined } | { folder?: undefined; why: string };

/** Searches this repository and installed packages; otherwise npm installs peruse-demo into the cache folder. */
export async function findDemoModels(io: Io): Promise<DemoModels> {
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
export function filesWithModels(page: string, models: string | undefined): string {
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

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
