#!/usr/bin/env node
// Builds the demo page as a static site in build/site: the page, its script (app/), the package (peruse/) and quantised copies of the demo
// models (models/). Any static host can serve that folder. The package must have been built (npm run build).
// npm run site -- [--url https://host/path/] [--source <address of the repository>] [--published]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { constants, gzipSync } from 'node:zlib';
import { buildDemoPackage } from './demo_package.mjs';
import { addSearch } from './docs/meaning.mjs';
import { buildDocs } from './docs.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { kVariants } from './variants.mjs';

export const siteFolder = join(root, 'build/site');

/** The models as in the repository, for the first build of `npm run demo`: the quantiser needs the build for teaching. */
export const storedModels = join(root, 'models');

const kTagger = 'peruse-tagger-convbert-tiny';
const kSorter = 'peruse-zero-shot-deberta-tiny';
const kReader = 'peruse-reader-deberta-tiny';

const kSizes = { 'tagger-size': kTagger, 'sorter-size': kSorter, 'reader-size': kReader };

const kStyles = ['style.css', 'panel.css', 'details.css', 'objects.css', 'arrival.css', 'inside.css'];
const kBundles = ['', '-worker', '-host', '-extras', '-files', '-gpu', '-onnx', '-redact-kit', '-search', '-teach', '-teach-worker'].map(
  (name) => `peruse${name}.js`,
);

/**
 * Builds the site in `folder`, where an earlier site may be served meanwhile, and returns the folder. `variants`: the builds of the engine
 * that exist. `models`: a folder; by default quantised copies. `packed`: adds compressed weights, because most hosts send weights as they
 * are. `pages`: options of writePages; `pages.docs`: 'pages' (default) adds the documentation, 'link' only links to it, 'markdown' to Markdown.
 */
export async function buildSite({ folder = siteFolder, variants = kVariants, models, packed = false, pages } = {}) {
  if (!existsSync(join(root, 'web/bundle/peruse.js'))) throw new Error('web/bundle/peruse.js is not there: build the package first');
  const site = `${folder}.${process.pid}`;
  const earlier = `${site}.earlier`;
  mkdirSync(site, { recursive: true });
  try {
    await writeSite(site, models ?? join(await buildDemoPackage(), 'models'), variants, packed, pages);
    if (existsSync(folder)) renameSync(folder, earlier);
    renameSync(site, folder);
  } finally {
    for (const old of [site, earlier]) rmSync(old, { recursive: true, force: true });
  }
  return folder;
}

async function writeSite(site, models, variants, packed, pages) {
  for (const file of readdirSync(join(root, 'demo'))) {
    if (/\.(svg|png)$/.test(file)) cpSync(join(root, 'demo', file), join(site, file));
  }
  writeFileSync(join(site, '.nojekyll'), ''); // GitHub Pages serves the files as they are.
  for (const name of readdirSync(models)) {
    if (existsSync(join(models, name, 'config.json'))) cpSync(join(models, name), join(site, 'models', name), { recursive: true });
  }
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  for (const project of ['demo', 'demo/service_worker']) {
    execFileSync(process.execPath, [tsc, '-p', join(root, project)], { stdio: 'inherit' });
  }
  await bundleScripts(site);
  writePages(site, { ...pages, packed: packed ? packWeights(join(site, 'models')) : {} });
  if (pages?.docs === undefined || pages.docs === 'pages') {
    await buildDocs(join(site, 'docs'), '../index.html', true);
    await step('search of the documentation', () => addSearch(site));
  }
  putPackage(variants, site);
}

/** Writes model.safetensors.gzip next to every model.safetensors. Returns the bytes of the latter by folder. */
function packWeights(models) {
  const sizes = {};
  for (const name of readdirSync(models)) {
    const weights = readFileSync(join(models, name, 'model.safetensors'));
    // Not .gz: some servers announce such a file as compressed in transfer, and browsers then decompress it themselves.
    writeFileSync(join(models, name, 'model.safetensors.gzip'), gzipSync(weights, { level: constants.Z_BEST_COMPRESSION }));
    sizes[name] = weights.length;
  }
  return sizes;
}

/**
 * Bundles the page's scripts and its service worker. The package's bundles stay separate files, because they look for workers in their
 * folder.
 */
async function bundleScripts(site) {
  const { rolldown } = await import('rolldown');
  const inPackage = {
    name: 'in-package',
    resolveId(name) {
      const file = /\/peruse\/(peruse[\w-]*\.js)$/.exec(name)?.[1];
      return file === undefined ? null : { id: `../peruse/${file}`, external: true };
    },
  };
  const refuse = (level, log) => {
    throw new Error(`${level}: ${log.message}`);
  };
  for (const [entry, file, format] of [
    ['src/request_first_model.ts', 'app/request_first_model.js', 'iife'],
    ['src/main.ts', 'app/main.js', 'es'],
    ['service_worker/offline.ts', 'offline.js', 'iife'],
  ]) {
    const build = await rolldown({
      input: join(root, 'demo', entry),
      plugins: [inPackage],
      resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
      platform: 'browser',
      onLog: refuse,
    });
    await build.write({ file: join(site, file), format, minify: true });
    await build.close();
  }
}

/**
 * Writes the main page with figures filled in, and the page for unknown addresses. `url`: where the site will be, for previews of links. `source`: the
 * repository's address. `published`: whether the package is on npm. `packed`: bytes of the weights before compression, by model folder, if the
 * site has them compressed. `docs`: 'markdown' links to the guides and cards as Markdown, everything else to their pages.
 */
function writePages(site, { url, source, published, packed = {}, docs = 'pages' } = {}) {
  const models = join(site, 'models');
  const style = kStyles.map((file) => readFileSync(join(root, 'demo', file), 'utf8')).join('\n');
  const cardOf = (name) => (docs === 'markdown' ? `./models/${name}/README.md` : `./docs/cards/${name}.html`);
  const figures = {
    ...Object.fromEntries(Object.entries(kSizes).map(([name, model]) => [name, megabytes(join(models, model, 'model.safetensors'))])),
    ...Object.fromEntries(readdirSync(models).map((name) => [`card-${name}`, cardOf(name)])),
    'og-image': new URL('preview.png', url ?? 'https://site.invalid/').href.replace('https://site.invalid/', './'),
    'og-url': url === undefined ? '' : `<meta property="og:url" content="${url}" />`,
    style,
    'style-hash': `sha256-${createHash('sha256').update(style).digest('base64')}`,
    packed: JSON.stringify(packed).replaceAll('"', '&quot;'),
    icon: `data:image/svg+xml;base64,${readFileSync(join(root, 'demo/icon.svg')).toString('base64')}`,
    links: linksOf(source, published, docs === 'markdown' ? 'README.md' : 'index.html'),
  };
  const page = filledIn(readFileSync(join(root, 'demo/index.html'), 'utf8'), figures);
  writeFileSync(join(site, 'index.html'), page);
  writeFileSync(join(site, '404.html'), readFileSync(join(root, 'demo/404.html'), 'utf8'));
}

/** Replaces each {{name}}; throws if a name has no value. */
function filledIn(text, values) {
  return text.replace(/\{\{([\w-]+)\}\}/g, (_, name) => {
    if (values[name] === undefined) throw new Error(`demo/index.html asks for {{${name}}}, which nothing provides`);
    return values[name];
  });
}

function megabytes(file) {
  return `${(statSync(file).size / 1e6).toFixed(1)}\u00a0MB`;
}

function linksOf(source, published, docs) {
  const links = [
    `<a href="./docs/${docs}">Documentation</a>`,
    ...(source === undefined ? [] : [`<a href="${source}">Source</a>`]),
    ...(published ? ['<a href="https://www.npmjs.com/package/peruse">npm</a>'] : []),
  ];
  return `<nav class="links" aria-label="Elsewhere">${links.join(' \u00b7 ')}</nav>`;
}

/** Copies the package with these builds into the site. The site may be served meanwhile: each file is complete or absent. */
export function putPackage(variants, site = siteFolder) {
  const folder = join(site, 'peruse');
  mkdirSync(folder, { recursive: true });
  const put = (path, write) => {
    write(`${path}.partial`);
    renameSync(`${path}.partial`, path);
  };
  const builds = variants.filter((variant) => variant !== 'tokenizer').map((variant) => `peruse-${variant}.wasm`);
  for (const file of readdirSync(join(root, 'web/bundle'))) {
    if (kBundles.includes(file) || builds.includes(file)) put(join(folder, file), (path) => cpSync(join(root, 'web/bundle', file), path));
  }
  const list = `${JSON.stringify(siteFiles(site), null, 1)}\n`;
  put(join(site, 'files.json'), (path) => writeFileSync(path, list));
}

export function bytesOf(files, site) {
  return files.reduce((sum, file) => sum + statSync(join(site, file)).size, 0);
}

/** Scripts that the first answer needs; the others are fetched when they are used. */
const kAtOnce = /^(app\/|offline\.js|icon\.svg|peruse\/peruse(-worker|-extras|-files|-redact-kit)?\.js$)/;

/** The files that a visitor probably needs next, in the order in which the service worker stores them. Other files follow. */
const kNext = [/^models\/peruse-zero-shot/, /^models\/peruse-reader/, /^peruse\/peruse-teach/, /^models\/peruse-sentiment/];

/** A model that only those choose who write in other languages: the service worker does not store it. */
const kOnDemand = /^models\/peruse-multilingual/;

/** Lists the files that the service worker stores on the first visit (`page`), and those that it stores when they are used or when the page is idle (`inUse`). */
function siteFiles(site) {
  const files = readdirSync(site, { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file !== 'files.json')
    .sort();
  const hash = createHash('sha256');
  const sha256 = {};
  for (const file of files) {
    if (!statSync(join(site, file)).isFile()) continue;
    const content = readFileSync(join(site, file));
    hash.update(file).update(content);
    sha256[file] = createHash('sha256').update(content).digest('hex');
  }
  const isPacked = (file) => files.includes(`${file}.gzip`);
  const isNeeded = (file) =>
    /^(models|peruse)\/.*\.(js|json|safetensors|gzip|wasm)$/.test(file) && !kOnDemand.test(file) && !isPacked(file);
  const later = files.filter((file) => !kAtOnce.test(file) && isNeeded(file));
  const placeOf = (file) => kNext.findIndex((name) => name.test(file)) >>> 0; // -1 becomes the last
  const inUse = later.sort((a, b) => placeOf(a) - placeOf(b));
  const page = files.filter((file) => kAtOnce.test(file) && /\.\w+$/.test(file));
  return {
    version: hash.digest('hex').slice(0, 16),
    page: ['./', ...page],
    inUse,
    sha256: Object.fromEntries([...page, ...inUse].map((file) => [file, sha256[file]])),
    bytesInUse: bytesOf(inUse, site),
  };
}

await runAsProgram(import.meta.url, async () => {
  const options = { url: { type: 'string' }, source: { type: 'string' }, published: { type: 'boolean' } };
  console.log(await buildSite({ packed: true, pages: parseArgs({ options }).values }));
});
