// Zero-leak rate, precision and recall of redaction:
//   node tests/bench/redaction/measure.mjs [--seed 7] [--model folder] [--others spans.jsonl] [--write messages.jsonl]
// --write stores the messages for presidio.py, and --others measures the spans that it prints. A message leaks if a letter or digit of a
// detail is left. Precision and recall count letters and digits. Also counts the messages without details in which something is replaced.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRedactor, pipeline } from '../../../web/dist/index_node.js';
import { messagesFrom } from './messages.mjs';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '7' }, model: { type: 'string' }, others: { type: 'string' }, write: { type: 'string' } },
});
const messages = messagesFrom(Number(values.seed));
if (values.write) writeFileSync(values.write, messages.map((one) => `${JSON.stringify(one)}\n`).join(''));

function isCovered(text, spans) {
  const marks = new Uint8Array(text.length);
  for (const { start, end } of spans) marks.fill(1, start, end);
  return (at) => marks[at] === 1;
}

function measure(found) {
  const report = {};
  const counts = { right: 0, found: 0, private: 0 };
  for (const [index, { kind, text, details }] of messages.entries()) {
    const isFound = isCovered(text, found[index]);
    const isPrivate = isCovered(text, details);
    let leaks = false;
    for (const { index: at } of text.matchAll(/[\p{L}\p{N}]/gu)) {
      counts.right += isFound(at) && isPrivate(at) ? 1 : 0;
      counts.found += isFound(at) ? 1 : 0;
      counts.private += isPrivate(at) ? 1 : 0;
      leaks ||= isPrivate(at) && !isFound(at);
    }
    report[kind] ??= { messages: 0, good: 0 };
    report[kind].messages += 1;
    report[kind].good += (kind === 'clean' ? found[index].length === 0 : !leaks) ? 1 : 0;
  }
  const share = ({ good, messages: all }) => `${((100 * good) / all).toFixed(1)} %`;
  const withDetails = Object.entries(report).filter(([kind]) => kind !== 'clean');
  const all = withDetails.reduce((sum, [, { good, messages: count }]) => ({ good: sum.good + good, messages: sum.messages + count }), {
    good: 0,
    messages: 0,
  });
  const kinds = withDetails.map(([kind, counted]) => `${kind} ${share(counted)} of ${counted.messages}`);
  const touched = report.clean.messages - report.clean.good;
  const precision = ((100 * counts.right) / counts.found).toFixed(1);
  const recall = ((100 * counts.right) / counts.private).toFixed(1);
  return `zero-leak ${share(all)} (${kinds.join(', ')}); clean messages touched ${touched} of ${report.clean.messages}; precision ${precision} %, recall ${recall} %`;
}

async function spansOf(redact, options) {
  return (
    await redact(
      messages.map(({ text }) => text),
      options,
    )
  ).map(({ entities }) => entities);
}

const patterns = createRedactor({ patterns: true });
console.log(`patterns alone: ${measure(await spansOf(patterns))}`);
if (values.model) {
  const model = await pipeline('redact', values.model, { worker: false });
  const options = { aggregation_strategy: 'average', recall: 0.5 };
  console.log(`model alone: ${measure(await spansOf(model, options))}`);
  console.log(`model and patterns: ${measure(await spansOf(model, { ...options, patterns: true }))}`);
  await model.dispose();
}
if (values.others) {
  const lines = readFileSync(values.others, 'utf8').trim().split('\n');
  console.log(`${values.others}: ${measure(lines.map((line) => JSON.parse(line)))}`);
}
