// Messages for measuring redaction, in fifteen languages (models/everyday_multilingual.txt, fresh.txt, choosing.txt, unseen.txt), in ten (forms.txt) and in English (english.txt), and
// what of their details redaction leaves.
import { readFileSync } from 'node:fs';

export const kEveryday = new URL('../../../models/everyday_multilingual.txt', import.meta.url);
/** Chats, mails, forms, JSON, CSV, URLs and code in ten languages. */
export const kForms = new URL('forms.txt', import.meta.url);
/** Clean texts in fifteen languages, by which weights were chosen. */
export const kClean = new URL('clean.txt', import.meta.url);
/** Messages and clean texts in fifteen languages that were written after the last training. */
export const kFresh = new URL('fresh.txt', import.meta.url);
/** As many as in kUnseen, by which the rules about unsure names were chosen. */
export const kChoosing = new URL('choosing.txt', import.meta.url);
/** Messages and clean texts in fifteen languages by which nothing was chosen. */
export const kUnseen = new URL('unseen.txt', import.meta.url);
/** Clean texts, and messages with names that look like words, in German, English, Arabic and Hindi, by which limits of certainty were chosen. */
export const kOrdinary = new URL('ordinary.txt', import.meta.url);
/** 240 messages and 120 clean texts in English. */
export const kEnglish = new URL('english.txt', import.meta.url);

/** Returns { language: [{ text, details }] }. In the files, braces mark details, and "- " begins a clean text. A file without lines "= language" is English. */
export function everydayMessages(file = kEveryday) {
  let listed = [];
  const found = file === kEnglish ? { en: listed } : {};
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const line of lines.filter((each) => each && !each.startsWith('#'))) {
    if (line.startsWith('= ')) {
      listed = [];
      found[line.slice(2)] = listed;
      continue;
    }
    const details = [];
    let text = '';
    for (const part of line
      .replace(/^- /, '')
      .replaceAll('\\n', '\n')
      .split(/(?<!\\)(?=[{}])/)) {
      const start = text.length;
      text += part.replace(/^[{}]/, '').replaceAll(/\\(?=[{}])/g, '');
      if (part.startsWith('{')) details.push({ start, end: text.length });
    }
    listed.push({ text, details });
  }
  return found;
}

/** The details of which a letter or digit is outside of the entities. */
export function leftOver({ text, details }, entities) {
  const hidden = new Uint8Array(text.length);
  for (const { start, end } of entities) hidden.fill(1, start, end);
  return details.filter(({ start, end }) =>
    [...text.slice(start, end).matchAll(/[\p{L}\p{N}]/gu)].some(({ index }) => hidden[start + index] === 0),
  );
}

/** Rows of counts by language; `onWrong` is called with each text that leaks or is touched without need. */
export async function measured(redact, options, onWrong = () => {}, file = kEveryday) {
  const rows = [];
  for (const [language, messages] of Object.entries(everydayMessages(file))) {
    const results = await redact(
      messages.map(({ text }) => text),
      options,
    );
    const row = { language, messages: 0, 'without a leak': 0, details: 0, gone: 0, clean: 0, touched: 0 };
    for (const [index, message] of messages.entries()) {
      const { text, entities } = results[index];
      if (message.details.length === 0) {
        row.clean += 1;
        row.touched += entities.length > 0 ? 1 : 0;
        if (entities.length > 0) onWrong(`${language} touched: ${text}`);
        continue;
      }
      const left = leftOver(message, entities);
      row.messages += 1;
      row['without a leak'] += left.length === 0 ? 1 : 0;
      row.details += message.details.length;
      row.gone += message.details.length - left.length;
      if (left.length > 0) onWrong(`${language} leaks: ${text}`);
    }
    rows.push(row);
  }
  const total = Object.fromEntries(Object.keys(rows[0]).map((key) => [key, rows.reduce((sum, row) => sum + row[key], 0)]));
  return [...rows, { ...total, language: 'all' }];
}
