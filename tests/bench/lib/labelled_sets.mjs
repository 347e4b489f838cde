// Test halves of labelled sets, as tools/train reads them: words with the types of entities, texts with one label.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export const unpack = (...path) => gunzipSync(readFileSync(join(...path))).toString('utf8');

export const some = (rows, count) =>
  rows.length <= count ? rows : Array.from({ length: count }, (_, i) => rows[Math.floor((i * rows.length) / count)]);

/** Labels of the data sets, and the demo model's types for them (tools/train/shared/entities.py). */
const kTypeOf = { person: 'PER', corporation: 'ORG', group: 'ORG', location: 'LOC', 'creative-work': 'MISC', product: 'MISC' };

/** Sentences as { words, types, begins }: the type of each word's entity or undefined, and whether the word is the entity's first. */
export function entitySentences(folder, set) {
  return unpack(folder, 'ner', `${set}-test-halfA.conll.gz`)
    .split(/\n\s*\n/)
    .map((block) => block.split('\n').filter((line) => line.trim() !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const rows = lines.map((line) => line.split(/[ \t]/));
      const types = rows.map(([, tag]) => (tag === 'O' ? undefined : (kTypeOf[tag.slice(2)] ?? tag.slice(2))));
      const begins = rows.map(([, tag], i) => tag.startsWith('B-') || types[i] !== types[i - 1]);
      return { words: rows.map(([word]) => word), types, begins };
    });
}

/** Intents of Snips, none of which the demo model was trained on, and the words that name them: { rows: [{ text, name }], names }. */
export function snips(folder) {
  const table = fileURLToPath(new URL('../../../models/training/labels.tsv', import.meta.url));
  const lines = readFileSync(table, 'utf8').split('\n');
  const nameOf = new Map(
    lines
      .map((line) => line.split('\t'))
      .filter(([set]) => set === 'snips')
      .map(([, intent, , name]) => [intent, name]),
  );
  const rows = unpack(folder, 'classification', 'snips-validate-halfA.jsonl.gz')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ intent, text }) => ({ text, name: nameOf.get(intent) }));
  return { rows, names: [...nameOf.values()] };
}
