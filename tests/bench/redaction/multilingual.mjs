// Zero-leak rate and false alarms of redaction in fifteen languages, on models/everyday_multilingual.txt:
//   node tests/bench/redaction/multilingual.mjs --model folder [--recall 0.5] [--dtype q8] [--alone] [--wrong]
// A message leaks if a letter or digit of a detail is left. --alone measures without patterns, --wrong prints what leaks and what is touched.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { pipeline } from '../../../web/dist/index_node.js';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    recall: { type: 'string', default: '0.5' },
    dtype: { type: 'string', default: 'fp32' },
    alone: { type: 'boolean', default: false },
    wrong: { type: 'boolean', default: false },
  },
});

/** { language: [{ text, details }] }; what stands in braces is a detail, and a text after "- " has none. */
export function everydayMessages() {
  const found = {};
  let listed = [];
  const lines = readFileSync(new URL('../../../models/everyday_multilingual.txt', import.meta.url), 'utf8').split('\n');
  for (const line of lines.filter((each) => each && !each.startsWith('#'))) {
    if (line.startsWith('= ')) {
      listed = [];
      found[line.slice(2)] = listed;
      continue;
    }
    const details = [];
    let text = '';
    for (const part of line.replace(/^- /, '').split(/(?=[{}])/)) {
      const start = text.length;
      text += part.replace(/^[{}]/, '');
      if (part.startsWith('{')) details.push({ start, end: text.length });
    }
    listed.push({ text, details });
  }
  return found;
}

function leftOver({ text, details }, entities) {
  const hidden = new Uint8Array(text.length);
  for (const { start, end } of entities) hidden.fill(1, start, end);
  return details.filter(({ start, end }) =>
    [...text.slice(start, end).matchAll(/[\p{L}\p{N}]/gu)].some(({ index }) => hidden[start + index] === 0),
  );
}

const redact = await pipeline('redact', values.model, { patterns: !values.alone, worker: false, dtype: values.dtype });
const rows = [];
for (const [language, messages] of Object.entries(everydayMessages())) {
  const results = await redact(
    messages.map(({ text }) => text),
    { aggregation_strategy: 'average', recall: Number(values.recall) },
  );
  const row = { language, messages: 0, 'without a leak': 0, details: 0, gone: 0, clean: 0, touched: 0 };
  for (const [index, message] of messages.entries()) {
    const { text, entities } = results[index];
    if (message.details.length === 0) {
      row.clean += 1;
      row.touched += entities.length > 0 ? 1 : 0;
      if (values.wrong && entities.length > 0) console.log(`${language} touched: ${text}`);
      continue;
    }
    const left = leftOver(message, entities);
    row.messages += 1;
    row['without a leak'] += left.length === 0 ? 1 : 0;
    row.details += message.details.length;
    row.gone += message.details.length - left.length;
    if (values.wrong && left.length > 0) console.log(`${language} leaks: ${text}`);
  }
  rows.push(row);
}
const total = Object.fromEntries(Object.keys(rows[0]).map((key) => [key, rows.reduce((sum, row) => sum + row[key], 0)]));
console.table([...rows, { ...total, language: 'all' }]);
await redact.dispose();
