import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documents, lines, messages } from '../../demo/src/examples.js';
import { type Pipeline, pipeline, restore } from '../../web/dist/index_node.js';
import { findPatterns } from '../../web/dist/redact/patterns.js';

const folder = (name: string) => fileURLToPath(new URL(`../../models/${name}/`, import.meta.url));

describe('names and private details', () => {
  let redact: Pipeline<'redact'>;
  beforeAll(async () => {
    redact = await pipeline('redact', folder('peruse-tagger-convbert-tiny'));
  });
  afterAll(() => redact.dispose());

  const names: Record<string, string[]> = {
    'An order': ['Boston LOC'],
    'A contract': ['David Miller PER', 'London LOC'],
    'A visit': ['Mary Johnson PER', 'University of Oxford ORG', 'New York LOC'],
  };
  const details: Record<string, string[]> = {
    'An order': ['Thomas Miller PER', 'thomas.miller@example.org EMAIL', '+1 617 555 0142 PHONE', '4111 1111 1111 1111 CARD'],
    'A contract': ['david.miller@example.com EMAIL', '+44 20 7946 0958 PHONE', 'GB29 NWBK 6016 1331 9268 19 IBAN'],
    'A visit': ['https://example.com/mary LINK', '(212) 555-0187 PHONE'],
  };
  test.each(messages)('a message, and the answer to it: $name', async ({ name, text, answer }) => {
    const found = findPatterns(text);
    expect(found.map(({ type, start, end }) => `${text.slice(start, end)} ${type}`)).toEqual(details[name]);
    const { entities, mapping } = await redact(text, { aggregation_strategy: 'average', recall: 0.5, patterns: true });
    const rest = entities.filter(({ start, end }) => !found.some((detail) => detail.start < end && start < detail.end));
    expect(rest.map(({ type, text: words }) => `${words} ${type}`)).toEqual(names[name]);
    expect(restore(answer, mapping).unrestored).toEqual([]);
  });

  test.each([
    ['My name is Zoe.', 'My name is [PER_1].'],
    ['my name is zoe miller and i live in berlin', 'my name is [PER_1] and i live in [LOC_1]'],
    ['Ask Priya to call Olivia Brown back.', 'Ask [PER_1] to call [PER_2] back.'],
    ['Will you be home early? I hope so.', 'Will you be home early? I hope so.'],
    ['The printer on the second floor is out of paper again.', 'The printer on the second floor is out of paper again.'],
  ])('%s', async (text, expected) => {
    expect((await redact(text, { aggregation_strategy: 'average', recall: 0.5, patterns: true })).text).toBe(expected);
  });
});

test('patterns take no sums, dates or wrong checksums for private details', () => {
  for (const text of ['1,234,567 people came on 2024-05-17.', 'Order 4471 of 12.05.2024 costs 899.00', 'Card 4111 1111 1111 1112 000'])
    expect(findPatterns(text)).toEqual([]);
  expect(findPatterns('GB29 NWBK 6016 1331 9268 18').filter(({ type }) => type === 'IBAN')).toEqual([]);
});

test('lines get their labels', async () => {
  const expected: Record<string, string[]> = {
    'Customer mail': ['delivery', 'payment', 'account', 'praise'],
    Requests: ['restaurant', 'weather', 'music', 'travel'],
    'One line': ['sports'],
  };
  const classify = await pipeline('zero-shot-classification', folder('peruse-zero-shot-deberta-tiny'));
  for (const { name, text, labels } of lines) {
    if (labels === undefined) continue; // For the model of the next test.
    const results = await classify(text.split('\n'), labels);
    expect(
      results.map((result) => result.labels[0]),
      name,
    ).toEqual(expected[name]);
  }
  await classify.dispose();
});

test('everyday messages get their labels', async () => {
  const classify = await pipeline('zero-shot-classification', folder('peruse-zero-shot-deberta-tiny'));
  const cases: [text: string, labels: string[], best: string][] = [
    ["Hi mum, I'll be home at seven, love you", ['spam', 'not spam'], 'not spam'],
    ['Congratulations, you have been chosen for a cash prize of $5000', ['spam', 'not spam'], 'spam'],
    ['The server is down and customers cannot pay.', ['urgent', 'can wait'], 'urgent'],
    ['Please water the plants when you have time', ['urgent', 'can wait'], 'can wait'],
  ];
  for (const [text, labels, best] of cases) expect((await classify(text, labels)).labels[0], text).toBe(best);
  await classify.dispose();
});

test('remarks are praise or complaint', async () => {
  const classify = await pipeline('text-classification', folder('peruse-sentiment-convbert-tiny'));
  const reviews = lines.filter(({ labels }) => labels === undefined).flatMap(({ text }) => text.split('\n'));
  const found = await classify(reviews);
  expect(found.map(({ label }) => label)).toEqual(['POSITIVE', 'NEGATIVE', 'POSITIVE', 'NEGATIVE']);
  await classify.dispose();
});

describe('questions', () => {
  let answer: Pipeline<'question-answering'>;
  beforeAll(async () => {
    answer = await pipeline('question-answering', folder('peruse-reader-deberta-tiny'));
  });
  afterAll(() => answer.dispose());

  const answers: Record<string, string[]> = {
    'Who was the last keeper?': ['Jonas Berg'],
    'When was the lighthouse built?': ['1874'],
    'What did the lamp burn until 1902?': ['whale oil'],
    'How long does it take to boil a litre?': ['three minutes', 'about three minutes'],
    'What is the weak point?': ['The lid', 'lid'],
    'Who came to a frozen lake?': ['hungry fox', 'a hungry fox'],
    'What did the old woman give him?': ['the smallest fish'],
    'When are the bins emptied?': ['Thursday', 'Thursday mornings'],
    'How long does hot water take to warm up?': ['twenty minutes', 'about twenty minutes'],
    'Where is the password written?': ['back of the router', 'on the back of the router in the living room'],
    'How much is the cleaning fee?': ['forty pounds'],
  };
  const asked = documents.flatMap(({ text, questions }) => questions.map((question) => [question, text] as const));
  test.each(asked)('%s', async (question, text) => {
    const found = await answer(question, text, { handle_impossible_answer: true }); // as the page does
    expect(answers[question]).toContain(found.answer);
  });

  test.each([
    ['Can I have a dog?', 'House rules: Smoking is forbidden. The rent is due on the first of each month.'],
    ['Who painted the ceiling?', documents[1]!.text],
    ['How much is a ticket?', documents[1]!.text],
    ['Where does the queen live?', documents[3]!.text],
  ])('%s is not in the text', async (question, text) => {
    expect((await answer(question, text, { handle_impossible_answer: true })).answer).toBe('');
  });
});
