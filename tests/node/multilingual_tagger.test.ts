// What docs/tasks/redact.md and the card of the multilingual tagger say of 300 messages and 150 clean texts in fifteen languages.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline, type RedactOptions } from '../../web/dist/index_node.js';

const kEveryday = new URL('../bench/redaction/everyday.mjs', import.meta.url).href;
const folder = (name: string) => fileURLToPath(new URL(`../../models/${name}/`, import.meta.url));

interface Row {
  language: string;
  messages: number;
  'without a leak': number;
  clean: number;
  touched: number;
}

type File = 'kEveryday' | 'kForms' | 'kFresh' | 'kChoosing' | 'kUnseen';

async function rowsOf(model: string, file: File = 'kEveryday'): Promise<Row[]> {
  const { measured, ...files } = (await import(/* @vite-ignore */ kEveryday)) as {
    measured(redact: unknown, options: RedactOptions, onWrong?: undefined, file?: URL): Promise<Row[]>;
  } & Record<File, URL>;
  const redact = await pipeline('redact', folder(model), { patterns: true, worker: false });
  try {
    return await measured(redact, { aggregation_strategy: 'average', recall: 0.5 }, undefined, files[file]);
  } finally {
    await redact.dispose();
  }
}

test('in fifteen languages most messages keep no private detail, and most clean texts stay', async () => {
  const rows = await rowsOf('peruse-multilingual-tagger-convbert-tiny');
  const all = rows.at(-1)!;
  expect([all.messages, all.clean]).toEqual([300, 150]);
  expect(all['without a leak']).toBeGreaterThanOrEqual(253);
  expect(all.touched).toBeLessThanOrEqual(6);
  const languages = rows.slice(0, -1);
  expect(languages.filter((row) => row['without a leak'] < 14).map(({ language }) => language)).toEqual([]);
  expect(languages.filter((row) => row.touched > row.clean / 4).map(({ language }) => language)).toEqual([]);
}, 60_000);

test('forms, JSON, CSV, mails and chats in ten languages keep no private detail in 97 of 100', async () => {
  const all = (await rowsOf('peruse-multilingual-tagger-convbert-tiny', 'kForms')).at(-1)!;
  expect([all.messages, all.clean]).toEqual([100, 40]);
  expect(all['without a leak']).toBeGreaterThanOrEqual(97);
  expect(all.touched).toBeLessThanOrEqual(11);
}, 60_000);

test('of texts written after the training, 197 of 210 messages keep no private detail, and 49 of 300 clean texts are touched', async () => {
  const rows = await rowsOf('peruse-multilingual-tagger-convbert-tiny', 'kFresh');
  const all = rows.at(-1)!;
  expect([all.messages, all.clean]).toEqual([210, 300]);
  expect(all['without a leak']).toBeGreaterThanOrEqual(197);
  expect(all.touched).toBeLessThanOrEqual(49);
  const languages = rows.slice(0, -1);
  expect(languages.filter((row) => row['without a leak'] < 12).map(({ language }) => language)).toEqual([]);
  expect(languages.filter((row) => row.touched > row.clean / 4).map(({ language }) => language)).toEqual(['hi']);
}, 60_000);

test('of texts by which the rules about unsure names were chosen, 42 of 300 clean ones are touched; of as many unseen ones, 78', async () => {
  const choosing = (await rowsOf('peruse-multilingual-tagger-convbert-tiny', 'kChoosing')).at(-1)!;
  expect([choosing.messages, choosing.clean]).toEqual([150, 300]);
  expect(choosing['without a leak']).toBeGreaterThanOrEqual(127);
  expect(choosing.touched).toBeLessThanOrEqual(42);
  const unseen = (await rowsOf('peruse-multilingual-tagger-convbert-tiny', 'kUnseen')).at(-1)!;
  expect([unseen.messages, unseen.clean]).toEqual([150, 300]);
  expect(unseen['without a leak']).toBeGreaterThanOrEqual(142);
  expect(unseen.touched).toBeLessThanOrEqual(78);
}, 60_000);
