// Asks the models each row of the tables "Where it fails" in their cards: the answers must be those of the table.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';

const models = fileURLToPath(new URL('../../models/', import.meta.url));
const read = (name: string) => readFileSync(models + name, 'utf8');

function failures(model: string): string[][] {
  const section = read(`${model}/README.md`).split('\n## Where it fails\n')[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

interface Item {
  task: string;
  text: string;
  labels: string[];
  label: string;
  question: string;
  passage: string;
  answers: string[];
}

function items(task: string): Item[] {
  const lines = ['visitors.jsonl', 'everyday.jsonl'].flatMap((name) => read(name).trim().split('\n'));
  return lines.map((line) => JSON.parse(line) as Item).filter((item) => item.task === task);
}

test('opinions', async () => {
  const model = 'peruse-sentiment-convbert-tiny';
  const classify = await pipeline('text-classification', models + model);
  for (const [text, positive] of failures(model)) {
    const scores = await classify(text!, { top_k: null });
    expect(scores.find(({ label }) => label === 'POSITIVE')!.score, text).toBeCloseTo(Number(positive), 2);
  }
  await classify.dispose();
});

test('questions', async () => {
  const model = 'peruse-reader-deberta-tiny';
  const answer = await pipeline('question-answering', models + model);
  const asked = items('question-answering');
  for (const [cell, said, right] of failures(model)) {
    const found = asked.filter(({ question }) => cell!.startsWith(question));
    expect(found.length, cell).toBeGreaterThan(0);
    const answers = await Promise.all(
      found.map(({ question, passage }) => answer(question, passage, { handle_impossible_answer: right === 'none' })),
    );
    expect(
      answers.map((one) => one.answer),
      cell,
    ).toContain(said);
  }
  await answer.dispose();
});

test('labels', async () => {
  const model = 'peruse-zero-shot-deberta-tiny';
  const classify = await pipeline('zero-shot-classification', models + model);
  const labelled = new Map(items('zero-shot-classification').map(({ text, labels, label }) => [text, { labels, label }]));
  for (const line of read('everyday_sorting.tsv').trim().split('\n')) {
    const [text, labels, label] = line.split('\t');
    if (label !== undefined) labelled.set(text!, { labels: labels!.split('; '), label });
  }
  for (const [text, said, right] of failures(model)) {
    const { labels, label } = labelled.get(text!)!;
    expect([(await classify(text!, labels)).labels[0], label], text).toEqual([said, right]);
  }
  await classify.dispose();
});
