// Writes the pages of the demo site: the main page with figures filled in, the model cards, and the page for unknown addresses.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/root.mjs';
import { markdownPage } from './site_markdown.mjs';

const kTagger = 'peruse-tagger-convbert-tiny';
const kSorter = 'peruse-zero-shot-deberta-tiny';
const kReader = 'peruse-reader-deberta-tiny';

const kSizes = { 'tagger-size': kTagger, 'sorter-size': kSorter, 'reader-size': kReader };

/**
 * `url`: where the site will be, for previews of links. `source`: the repository's address. `published`: whether the package is on npm.
 * `packed`: bytes of the weights before compression, by model folder, if the site has them compressed.
 * `docs`: 'markdown' links to the guides as Markdown, everything else to their pages.
 */
export function writePages(site, { url, source, published, packed = {}, docs = 'pages' } = {}) {
  const models = join(site, 'models');
  const figures = {
    ...Object.fromEntries(Object.entries(kSizes).map(([name, model]) => [name, megabytes(join(models, model, 'model.safetensors'))])),
    'og-image': new URL('preview.png', url ?? 'https://site.invalid/').href.replace('https://site.invalid/', './'),
    'og-url': url === undefined ? '' : `<meta property="og:url" content="${url}" />`,
    packed: JSON.stringify(packed).replaceAll('"', '&quot;'),
    icon: `data:image/svg+xml;base64,${readFileSync(join(root, 'demo/icon.svg')).toString('base64')}`,
    links: linksOf(source, published, docs === 'markdown' ? 'README.md' : 'index.html'),
  };
  const page = filledIn(readFileSync(join(root, 'demo/index.html'), 'utf8'), figures);
  writeFileSync(join(site, 'index.html'), page);
  writeFileSync(join(site, '404.html'), readFileSync(join(root, 'demo/404.html'), 'utf8'));
  mkdirSync(join(site, 'cards'), { recursive: true }); // Not with the models, which `peruse serve-demo` has from another package.
  for (const name of readdirSync(models)) {
    writeFileSync(join(site, 'cards', `${name}.html`), markdownPage(name, readFileSync(join(models, name, 'README.md'), 'utf8')));
  }
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
