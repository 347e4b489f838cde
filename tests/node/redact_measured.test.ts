// The figures of Peruse in docs/tasks/redact.md and README.md: English messages, recall, unread languages.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pipeline, pipeline } from '../../web/dist/index_node.js';
import { redact as byPatterns } from '../../web/dist/index_redact.js';

interface Message {
  text: string;
  details: { start: number; end: number }[];
}
interface Row {
  messages: number;
  'without a leak': number;
  details: number;
  gone: number;
  clean: number;
  touched: number;
}
interface Bench {
  kEnglish: URL;
  everydayMessages(file: URL): { en: Message[] };
  measured(redact: unknown, options: object, onWrong: undefined, file: URL): Promise<Row[]>;
}
const kBench = new URL('../bench/redaction/everyday.mjs', import.meta.url).href;
const { kEnglish, everydayMessages, measured } = (await import(/* @vite-ignore */ kBench)) as Bench;

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const kPage = read('docs/tasks/redact.md');
const load = (name: string, patterns: boolean) =>
  pipeline('redact', fileURLToPath(new URL(`../../models/${name}`, import.meta.url)), { patterns, worker: false });

let english: Pipeline<'redact'>;
beforeAll(async () => {
  english = await load('peruse-tagger-convbert-tiny', false);
});
afterAll(() => english.dispose());

test('the bench has 240 messages with 408 details and 120 clean texts; 40 messages and all clean texts are not of templates', () => {
  const { en } = everydayMessages(kEnglish);
  const counts = [en.filter(({ details }) => details.length > 0).length, en.flatMap(({ details }) => details).length, en.length];
  expect(counts).toEqual([240, 408, 360]);
});

/** A row of the page's table, as numbers: messages without a leak, percent of the details gone, clean texts touched. */
function rowOf(start: string): number[] {
  const row = kPage.split('\n').find((line) => line.startsWith(`| ${start}`))!;
  return [...row.matchAll(/\| (\d+)(?: of \d+| %)/g)].map(([, number]) => Number(number));
}

test('the figures of Peruse are those of the table, in README, too', async () => {
  const multilingual = await load('peruse-multilingual-tagger-convbert-tiny', true);
  try {
    const tools: [string, unknown, object][] = [
      ["Peruse, patterns and the demo's English model", english, { recall: 0.5, patterns: true }],
      ['Peruse, patterns and the model for fifteen languages', multilingual, { recall: 0.55 }],
      ['Peruse, patterns alone', byPatterns, {}],
    ];
    for (const [name, redact, options] of tools) {
      const all = (await measured(redact, options, undefined, kEnglish)).at(-1)!;
      expect([all['without a leak'], Math.round((100 * all.gone) / all.details), all.touched], name).toEqual(rowOf(name));
    }
  } finally {
    await multilingual.dispose();
  }
  const [hidden, , touched] = rowOf("Peruse, patterns and the demo's English model");
  expect(hidden).toBeGreaterThanOrEqual(232);
  expect(touched).toBeLessThanOrEqual(9);
  const [, hiddenInReadme] = /\| messages without a leak \| \*\*(\d+)\*\*/.exec(read('README.md'))!;
  const [, touchedInReadme] = /\| clean texts touched, of 120 \| (\d+)/.exec(read('README.md'))!;
  expect([Number(hiddenInReadme), Number(touchedInReadme)]).toEqual([hidden, touched]);
}, 60_000);

/** Messages of models/everyday_messages.txt: each with four of the names before it, and ordinary ones. */
function everyday(section: string): { text: string; name: string }[] {
  const lines = new RegExp(`^= ${section}\\n([^=]*)`, 'm').exec(read('models/everyday_messages.txt'))![1]!.split('\n').filter(Boolean);
  const names = lines.filter((line) => !line.startsWith('> ')).flatMap((line) => line.split(' '));
  const messages = lines.filter((line) => line.startsWith('> ')).map((line) => line.slice(2));
  if (names.length === 0) return messages.map((text) => ({ text, name: '' }));
  return messages.flatMap((text, number) =>
    [0, 1, 2, 3].map((turn) => {
      const name = names[(number * 7 + turn * 11) % names.length]!;
      return { text: text.replace('{}', name), name };
    }),
  );
}

test('recall 0.8 finds more first names in small letters, and touches more ordinary messages', async () => {
  const small = everyday('first names').map(({ text, name }) => ({ text: text.toLowerCase(), name: name.toLowerCase() }));
  const ordinary = everyday('ordinary').map(({ text }) => text);
  const count = async (recall: number) => {
    const found = await english(
      small.map(({ text }) => text),
      { recall },
    );
    const hidden = small.filter(({ text, name }, index) => {
      const start = text.indexOf(name);
      return found[index]!.entities.some((entity) => entity.start <= start && start + name.length <= entity.end);
    });
    const touched = (await english(ordinary, { recall })).filter(({ entities }) => entities.length > 0);
    return [hidden.length, small.length, touched.length, ordinary.length];
  };
  expect([await count(0), await count(0.8)]).toEqual([
    [148, 160, 2, 60],
    [155, 160, 4, 60],
  ]);
  expect(kPage).toMatch(/155 of 160 first names in small letters instead of 148, and touches 4 of 60 ordinary messages instead\s+of 2/);
});

test('a model also accepts other languages of its scripts', async () => {
  expect((await english('Wir haben gestern einen neuen Tisch gekauft.')).unread).toEqual([]);
});
