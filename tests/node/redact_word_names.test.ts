// Names that look like ordinary words: rules about ordinary words do not leave them, and how many the model for fifteen languages hides.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { isCommon } from '../../web/src/redact/common_words.js';
import type { Detail } from '../../web/src/redact/details.js';
import { withoutFunctionWords } from '../../web/src/redact/function_words.js';
import { kSentenceStarts } from '../../web/src/redact/sentence_starts.js';

const kFile = new URL('../bench/redaction/word_names.txt', import.meta.url);
const kSections = readFileSync(kFile, 'utf8')
  .split(/^= /m)
  .slice(1)
  .map((section) => {
    const [language, names, ...messages] = section.trim().split('\n');
    return { language: language!, names: names!.split(' '), messages: messages.map((line) => line.replace('> ', '')) };
  });

const kOthers =
  'Russo Deutsch Greco Friday Sunday Monday April May June August Mutter Norden Honig März Cash Price Rice Read Close मेरी गया नाना सूरत मंटो मैक्रों ओर्टेगा مطر رياض وسام 李万里 はるか 아서'.split(
    ' ',
  );

test('at least 40 names in each language, and none of them is a common word, a function word or a word that begins sentences', () => {
  expect(kSections.map(({ language, names }) => [language, names.length >= 40])).toEqual(
    ['de', 'en', 'hi', 'ar'].map((one) => [one, true]),
  );
  const names = [...kSections.flatMap(({ names: listed }) => listed), ...kOthers];
  expect(names.filter(isCommon)).toEqual([]);
  expect(names.filter((name) => kSentenceStarts.has(name.toLowerCase()))).toEqual([]);
  for (const name of names) {
    const detail: Detail = { type: 'PER', score: 0.9, start: 0, end: name.length };
    expect(withoutFunctionWords(name, detail, [])).toEqual(detail);
  }
});

test('nine messages with each name: the counts that are hidden', async () => {
  const folder = fileURLToPath(new URL('../../models/peruse-multilingual-tagger-convbert-tiny/', import.meta.url));
  const redact = await pipeline('redact', folder, { patterns: true, worker: false });
  try {
    const hidden: Record<string, number> = {};
    for (const { language, names, messages } of kSections) {
      const filled = names.flatMap((name) =>
        messages.map((message) => ({ name, text: message.replace('{}', name), start: message.indexOf('{}') })),
      );
      const results = await redact(
        filled.map(({ text }) => text),
        { recall: 0.55 },
      );
      const isHidden = ({ name, start }: (typeof filled)[number], index: number) =>
        results[index]!.entities.some((entity) => entity.start <= start && start + name.length <= entity.end);
      hidden[language] = filled.filter(isHidden).length;
    }
    const least = { de: 376, en: 517, hi: 435, ar: 338 };
    for (const [language, count] of Object.entries(least)) expect(hidden[language], language).toBeGreaterThanOrEqual(count);
  } finally {
    await redact.dispose();
  }
}, 60_000);
