// A host: an app with the framework of its package-lock.json and the package from the tarball.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject } from 'vitest';
import { type Site, tinyModels, type Visit } from '../../browser/page/visit.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Node 22, which some frameworks need (tests/packaging/package.json). */
const kNode22 = here('../node_modules/node22/bin/node');
export const kNode = existsSync(kNode22) ? kNode22 : process.execPath;

/** The build that isolated pages choose on this machine. */
export const kThreads = availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed';

/** Files of the shared app: paths in tests/. */
export const kSharedApp = {
  'index.html': 'packaging/app/index.html',
  'main.js': 'packaging/app/main.js',
  'work.js': 'browser/page/work.js',
};

/** Whether npm installs the optional packages for 64-bit Linux: Bun, Deno, a server of Chroma. */
export const kHasLinuxPackages =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

/** Without what the test runner sets. */
export const kEnvironment = {
  ...process.env,
  NODE_ENV: undefined,
  VITEST: undefined,
  CI: '1',
  FORCE_COLOR: undefined,
  NO_COLOR: '1',
  HOST: '127.0.0.1',
  ASTRO_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NG_CLI_ANALYTICS: 'false',
  NUXT_TELEMETRY_DISABLED: '1',
};

/** An app. Scripts are relative to its node_modules. */
export class Stage {
  constructor(
    readonly folder: string,
    private readonly environment_: Record<string, string | undefined> = kEnvironment,
  ) {}

  with(environment: Record<string, string>): Stage {
    return new Stage(this.folder, { ...this.environment_, ...environment });
  }

  async run(script: string, ...args: string[]): Promise<string> {
    return runProgram(this.folder, kNode, [join(this.folder, 'node_modules', script), ...args], this.environment_);
  }

  /** The script of a package's command, whose path differs between versions. */
  bin(name: string, command = name): string {
    const { bin } = JSON.parse(readFileSync(join(this.folder, 'node_modules', name, 'package.json'), 'utf8'));
    return join(name, typeof bin === 'string' ? bin : bin[command]);
  }

  async visiting([script, ...args]: string[], use: (site: Served) => Promise<void>): Promise<void> {
    const site = await this.serve(script!, ...args);
    try {
      await use(site);
    } finally {
      await site.stop();
    }
  }

  /** Starts a server and waits until it answers. Replaces `port` in `args` by a free port. */
  async serve(script: string, ...args: string[]): Promise<Served> {
    const port = String(await freePort());
    const words = args.map((one) => (one === 'port' ? port : one));
    const program = join(this.folder, 'node_modules', script);
    const child = spawn(kNode, [program, ...words], { cwd: this.folder, env: { ...this.environment_, PORT: port } });
    return served(child, `http://127.0.0.1:${port}/`);
  }
}

export async function runProgram(
  folder: string,
  program: string,
  args: string[],
  env: Record<string, string | undefined> = kEnvironment,
): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder, env, maxBuffer: 1 << 26 });
  return stdout + stderr;
}

export interface Served {
  url: string;
  words(): string;
  stop(): Promise<void>;
}

/** Hosts that tools/hosts.mjs chose, with versions, for example 'astro5'; undefined means all. */
const kChosen = process.env.PERUSE_HOSTS?.split(',');

/** What tools/hosts.mjs installs. */
const kInstalled = ['node_modules', 'python_packages'];

const isVersion = (name: string) => /^[\d.]+$/.test(name);

export function versionsOf(name: string): string[] {
  const versions = readdirSync(here(`./${name}`)).filter(isVersion);
  return versions.filter((version) => kChosen === undefined || kChosen.includes(name + version));
}

/**
 * Creates an app in tests/packaging/work/<name><version> from hosts/<name>, hosts/<name>/<version>, the files in `shared` (path in the app: path
 * in tests/), the package, and the tiny models in `models`, its folder of static files. tools/hosts.mjs has installed the framework.
 */
export async function stage(
  name: string,
  { version = '', shared = {}, models = 'public' }: { version?: string; shared?: Record<string, string>; models?: string } = {},
): Promise<Stage> {
  const folder = here(`../work/${name}${version}`);
  const own = here(`./${name}/${version}`);
  const isInstalled = existsSync(join(folder, 'node_modules')) || !existsSync(join(own, 'package-lock.json'));
  if (!isInstalled) throw new Error(`${folder} has no node_modules: npm run test:hosts ${name}${version} installs them`);
  await mkdir(folder, { recursive: true });
  for (const old of await readdir(folder)) if (!kInstalled.includes(old)) await rm(join(folder, old), { recursive: true, force: true });
  for (const old of ['.vite', '.cache', '.astro', 'peruse']) await rm(join(folder, 'node_modules', old), { recursive: true, force: true });
  for (const file of await readdir(here(`./${name}`))) {
    if (!isVersion(file)) await cp(here(`./${name}/${file}`), join(folder, file), { recursive: true });
  }
  if (version !== '') await cp(own, folder, { recursive: true });
  for (const [to, from] of Object.entries(shared)) await cp(here(`../../${from}`), join(folder, to), { recursive: true });
  await cp(join(inject('installed').folder, 'node_modules/peruse'), join(folder, 'node_modules/peruse'), { recursive: true });
  for (const [path, content] of Object.entries(await tinyModels())) {
    const file = join(folder, models, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content as Uint8Array);
  }
  return new Stage(folder);
}

export async function served(child: ChildProcess, url: string): Promise<Served> {
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (some) => {
      words += some;
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  for (let waited = 0; !(await answers(url)); waited += 200) {
    if (waited > 90_000 || child.exitCode !== null) {
      child.kill();
      throw new Error(`no server at ${url}: ${words}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    url,
    words: () => words,
    stop: () => {
      child.kill();
      return ended;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** Expects that a bundler has copied GPU support, the only script that requests an adapter. */
export function expectGpuCopied(site: Site): void {
  const scripts = Object.entries(site).filter(([path, content]) => path.endsWith('.js') && String(content).includes('requestAdapter'));
  expect(scripts.length).toBeGreaterThan(0);
}

export function expectGpu({ result }: Pick<Visit, 'result'>): void {
  expect(result).toMatchObject({ device: 'webgpu', labels: [{ label: expect.any(String) }] });
}

export function expectWork({ result, elsewhere, complaints }: Omit<Visit, 'requests'>, variant: string = kThreads): void {
  expect(result).toMatchObject({
    worker: true,
    variant,
    tokens: 3,
    labels: [{ label: expect.any(String) }],
    best: { answer: expect.any(String) },
  });
  expect(elsewhere).toEqual([]);
  expect(complaints.filter((line) => !/404|^\[vite\] connect|<Suspense> is an experimental|React DevTools/.test(line))).toEqual([]);
}
