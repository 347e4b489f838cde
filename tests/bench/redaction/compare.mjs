// Compares redaction by Peruse and other tools on english.txt: npm run bench:redact [-- --python python3]
// The command installs the peers at the versions of package.json here. Presidio is measured with the Python that --python names, if that has
// presidio-analyzer 2.2.366 (see presidio.py). A message leaks if a letter or digit of a detail is left. Intervals are Wilson's, for 95 %.
// Milliseconds are those of a processor, without those of loading; megabytes are those of
// the model and the package itself, compressed, without its dependencies (of Peruse the model or the patterns, of Presidio spaCy's model).
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { everydayMessages, kEnglish, leftOver } from './everyday.mjs';

const kHere = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { python: { type: 'string' }, spacy: { type: 'string' } } });

/** Ranges of a text that a redacted copy lacks, for tools that return only the copy: its parts between placeholders, in order. */
export function rangesBetween(text, redacted, placeholder) {
  const ranges = [];
  let at = 0;
  for (const part of redacted.split(placeholder).filter((each) => each !== undefined)) {
    const start = text.indexOf(part, at);
    if (start < 0) continue;
    if (start > at) ranges.push({ start: at, end: start });
    at = start + part.length;
  }
  if (at < text.length) ranges.push({ start: at, end: text.length });
  return ranges;
}

function interval(good, all) {
  const z = 1.96;
  const share = good / all;
  const middle = share + (z * z) / (2 * all);
  const half = z * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all));
  const percent = (value) => Math.round(100 * Math.max(0, value));
  return `${percent((middle - half) / (1 + (z * z) / all))}-${percent((middle + half) / (1 + (z * z) / all))}`;
}

const { en: all } = everydayMessages(kEnglish);

function rowOf(tool, found, milliseconds, megabytes) {
  const counts = { messages: 0, good: 0, details: 0, gone: 0, clean: 0, touched: 0 };
  for (const [index, { text, details }] of all.entries()) {
    if (details.length === 0) {
      counts.clean += 1;
      counts.touched += found[index].length > 0 ? 1 : 0;
      continue;
    }
    const left = leftOver({ text, details }, found[index]);
    counts.messages += 1;
    counts.good += left.length === 0 ? 1 : 0;
    counts.details += details.length;
    counts.gone += details.length - left.length;
  }
  return {
    tool,
    'messages without a leak': `${counts.good} of ${counts.messages} (${interval(counts.good, counts.messages)} %)`,
    'details gone': `${Math.round((100 * counts.gone) / counts.details)} % of ${counts.details}`,
    'clean texts touched': `${counts.touched} of ${counts.clean} (${interval(counts.touched, counts.clean)} %)`,
    'ms a message': (milliseconds / all.length).toFixed(1),
    MB: megabytes,
  };
}

async function timed(tool, megabytes, find) {
  await find(all[0].text);
  const start = process.cpuUsage();
  const found = [];
  for (const { text } of all) found.push(await find(text));
  const { user, system } = process.cpuUsage(start);
  return rowOf(tool, found, (user + system) / 1000, megabytes);
}

const root = join(kHere, '../../../');
const { pipeline } = await import(pathToFileURL(join(root, 'web/dist/index_node.js')).href);
const { redact } = await import(pathToFileURL(join(root, 'web/dist/index_redact.js')).href);
const rows = [];
rows.push(await timed('Peruse, patterns alone', '0.03', async (text) => (await redact(text)).entities));
for (const [folder, megabytes, recall] of [
  ['peruse-tagger-convbert-tiny', '2.9', 0.5],
  ['peruse-multilingual-tagger-convbert-tiny', '2.2', 0.55],
]) {
  const tagger = await pipeline('redact', join(root, 'models', folder), { patterns: true, worker: false }).catch(() => undefined);
  if (tagger === undefined) continue;
  rows.push(await timed(`Peruse, ${folder}`, megabytes, async (text) => (await tagger(text, { recall })).entities));
  await tagger.dispose();
}

execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], { cwd: join(kHere, 'peers'), stdio: 'inherit' });
const require = createRequire(join(kHere, 'peers/package.json'));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

const { OpenRedaction } = await load('openredaction');
const open = new OpenRedaction();
rows.push(
  await timed('openredaction 1.1.5', '0.8', async (text) => {
    const { detections = [] } = await open.detect(text);
    return detections.map(({ position: [start, end] }) => ({ start, end }));
  }),
);
const { SyncRedactor } = await load('redact-pii');
const pii = new SyncRedactor();
rows.push(
  await timed('redact-pii 3.4.0', '0.1', async (text) =>
    rangesBetween(text, pii.redact(text), /[A-Z_]{3,}(?<=NAME|ADDRESS|NUMBER|CODE|CREDENTIALS|USERNAME|PASSWORD|DIGITS|URL|ZIPCODE)/),
  ),
);
const arcjet = await load('@arcjet/redact');
rows.push(
  await timed('@arcjet/redact 1.4.0', '0.3', async (text) => {
    const [redacted] = await arcjet.redact(text);
    return rangesBetween(text, redacted, /<Redacted [^>]*>/);
  }),
);

if (values.python) {
  const folder = mkdtempSync(join(tmpdir(), 'redact-'));
  const file = join(folder, 'messages.jsonl');
  writeFileSync(file, all.map(({ text }) => `${JSON.stringify({ text })}\n`).join(''));
  for (const [name, megabytes, model] of [
    ['Presidio 2.2.366, no model', '0.2', undefined],
    ...(values.spacy ? [[`Presidio 2.2.366, ${values.spacy.split('/').at(-1)}`, '34', values.spacy]] : []),
  ]) {
    const { stdout, stderr, status } = spawnSync(values.python, [join(kHere, 'presidio.py'), file, ...(model ? [model] : [])], {
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    if (status !== 0) throw new Error(stderr);
    rows.push(
      rowOf(
        name,
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
        Number(/^milliseconds: (\d+)$/m.exec(stderr)[1]),
        megabytes,
      ),
    );
  }
}
console.table(rows);
