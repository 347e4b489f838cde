// The documentation's second kind of search, by meaning and by words, with SemanticIndex in the page (meaning.js): writes its index of the guides and
// what it costs a visitor.
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../setup/root.mjs';

/** The model of the demo that ranks best; "Search of the documentation" in docs/internals/build.md has the figures. */
const kModel = 'peruse-zero-shot-deberta-tiny';
const kIndex = { chunk_tokens: 120, chunk_overlap: 0, storage: 'int8' };
const kPooling = 'cls';

/** The scripts and the largest engine that a page loads for a search. */
const kLoaded = ['peruse.js', 'peruse-worker.js', 'peruse-search.js', 'peruse-relaxed-threads.wasm'];

const kEntities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const decoded = (text) =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
    name ? (kEntities[name.toLowerCase()] ?? whole) : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16)),
  );

function textOf(html) {
  const text = html
    .replace(/<(script|svg|button)[\s>][\s\S]*?<\/\1>/g, '')
    .replace(/<\/(p|li|tr|pre|h\d|td|th)>|<br\/?>/g, '\n')
    .replace(/<[^>]*>/g, '');
  return decoded(text)
    .replace(/[ \t]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
}

/** The sections of a guide's page: { id, text, metadata: { page, title } }. An id is the section's address in the site, as a link has it. */
export function sectionsOfPage(html, address) {
  const start = html.indexOf('<div class="tsd-panel tsd-typography">');
  const end = html.indexOf('<nav class="around"', start);
  if (start < 0 || end < 0) throw new Error(`${address} is no page of a guide`);
  const page = textOf(/<h1[^>]*>([\s\S]*?)<\/h1>/.exec(html.slice(start))[1]);
  const parts = html.slice(start, end).split(/(?=<h[1-3] id="[^"]+")/);
  return parts.slice(1).flatMap((part) => {
    const [heading, anchor, inner] = /^<h[1-3] id="([^"]+)"[^>]*>([\s\S]*?)<\/h[1-3]>/.exec(part);
    const [title, text] = [textOf(inner), textOf(part.slice(heading.length))];
    const titles = title === page ? page : `${page}: ${title}`;
    return text === '' ? [] : [{ id: `${address}#${anchor}`, text: `${titles}\n${text}`, metadata: { page, title } }];
  });
}

/** Pages that users seldom look for, and that hide the guides. */
const kLeftOut = /^(internals|cards)\//;

/** The sections of all guides of the documentation in the folder `docs`. */
export function sectionsOfDocs(docs) {
  const files = readdirSync(docs, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
  return files
    .filter((file) => file.endsWith('.html') && !kLeftOut.test(file))
    .sort()
    .flatMap((file) => {
      const html = readFileSync(join(docs, file), 'utf8');
      return html.includes('<nav class="around"') ? sectionsOfPage(html, file) : [];
    });
}

function bytesOf(folder, files) {
  return files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}

/** Adds the search to the documentation in `site`/docs, beside which the site has the package in peruse/ and the models in models/. */
export async function addSearch(site) {
  const docs = join(site, 'docs');
  const model = join(site, 'models', kModel);
  const { pipeline, SemanticIndex } = await import('../../web/dist/index_node.js');
  const embed = await pipeline('feature-extraction', model);
  try {
    const index = new SemanticIndex(embed, kIndex);
    const sections = sectionsOfDocs(docs);
    await index.add(sections, { pooling: kPooling });
    const file = Buffer.from(await (await index.save()).arrayBuffer());
    writeFileSync(join(docs, 'assets/meaning.bin'), file);
    const configuration = readdirSync(model).filter((name) => /\.json$|^model\.safetensors$/.test(name));
    const bytes = file.length + bytesOf(model, configuration) + bytesOf(join(root, 'web/bundle'), kLoaded);
    writeFileSync(join(docs, 'assets/meaning.json'), JSON.stringify({ model: `models/${kModel}/`, sections: sections.length, bytes }));
  } finally {
    await embed.dispose();
  }
  cpSync(fileURLToPath(new URL('meaning.js', import.meta.url)), join(docs, 'assets/meaning.js'));
}
