// Statements of docs/tasks/redact.md about models: any token classifier, overlapping windows, GLiNER's threshold.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { pipelineModel } from './support/pipeline_models.js';

const kRoot = new URL('../../', import.meta.url);
const kTagger = fileURLToPath(new URL('models/peruse-tagger-convbert-tiny', kRoot));
const kText = 'Anna Schmidt met Mr. Bell in Geneva, call 030 1234567 or write to anna@example.org.';

/** Labels without `B-`, as iiiorg/piiranha-v1-detect-personal-information has them, and those of the fixtures. */
const kLabels = [
  ['O', 'I-GIVENNAME', 'I-SURNAME', 'I-CITY', 'I-EMAIL'],
  ['O', 'B-PER', 'I-PER', 'B-LOC', 'I-LOC'],
];

test.each(['convbert', 'deberta', 'deberta-v2'])('a token classifier of the family %s redacts what it finds', async (family) => {
  for (const labels of kLabels) {
    const files = await pipelineModel(family, 'token', { id2label: Object.fromEntries(labels.entries()) });
    const tag = await pipeline('token-classification', files, { worker: false });
    const redact = await pipeline('redact', files, { worker: false });
    const types = [...new Set(labels.slice(1).map((label) => label.slice(2)))];
    try {
      const groups = await tag(kText, { aggregation_strategy: 'average' });
      expect(groups.length, 'the model finds something').toBeGreaterThan(0);
      const { text, entities, mapping } = await redact(kText, { types });
      for (const { start, end, entity_group } of groups) {
        const words = kText.slice(start, end); // White space around an entity stays in the text.
        const from = end - words.trimStart().length;
        const to = start + words.trimEnd().length;
        const around = entities.find((entity) => entity.start <= from && to <= entity.end);
        expect(around, `${entity_group} ${words}`).toBeDefined();
      }
      for (const { type, start, end } of entities) {
        expect(types).toContain(type);
        expect(groups.some((group) => group.start < end && start < group.end)).toBe(true);
      }
      expect(text.replaceAll(/\[[A-Z]+_\d+\]/g, (placeholder) => mapping[placeholder]!)).toBe(kText);
    } finally {
      await Promise.all([tag.dispose(), redact.dispose()]);
    }
  }
});

test('the models that the page names are in the list of models', () => {
  const [, named = ''] = /Any token classifier ([^.]*\.[^.]*)\./.exec(readFileSync(new URL('docs/tasks/redact.md', kRoot), 'utf8'))!;
  const models = readFileSync(new URL('docs/models.md', kRoot), 'utf8');
  const names = [...named.matchAll(/`([\w-]+\/[\w.-]+)`/g)].map(([, name]) => name!);
  expect(names.length).toBe(3);
  for (const name of names) expect(models.includes(name), name).toBe(true);
});

test('a name is found whole wherever the windows of a long text end, and windows that share nothing break it', async () => {
  const redact = await pipeline('redact', kTagger, { worker: false });
  const name = 'Charlotte Brandon-Whitfield';
  const texts = Array.from(
    { length: 30 },
    (_, count) => `${'we walked home '.repeat(12)}${'and '.repeat(count)}then ${name} came home with us again today.`,
  );
  const whole = async (stride: number) => {
    const results = await redact(texts, { max_length: 24, stride });
    return results.filter(({ entities }) => entities.some(({ type, text }) => type === 'PER' && text === name)).length;
  };
  try {
    expect(await whole(12)).toBe(30);
    expect(await whole(0)).toBeLessThan(30);
    const long = `${'We walked along the river and talked about the weather. '.repeat(400)}At the end Mary Johnson waved.`;
    expect((await redact(long)).text.endsWith('At the end [PER_1] waved.')).toBe(true);
  } finally {
    await redact.dispose();
  }
});

test("GLiNER's threshold is 0.5", async () => {
  const read = (path: string) => readFileSync(new URL(`tests/fixtures/gliner/${path}`, kRoot));
  const files = {
    'gliner_config.json': read('markerV0/gliner_config.json'),
    'model.safetensors': read('markerV0/model.safetensors'),
    'tokenizer.json': read('tokenizer/tokenizer.json'),
    'tokenizer_config.json': read('tokenizer/tokenizer_config.json'),
  };
  const text = "Anna Schmidt met Mr. O'Neill in Gen\u00e8ve, on Monday!";
  const labels = ['person', 'city or town', 'date', 'caf\u00e9'];
  const redact = await pipeline('redact', files, { labels, worker: false });
  try {
    const found = async (threshold?: number) =>
      (await redact(text, { types: labels, ...(threshold === undefined ? {} : { threshold }) })).entities;
    const usual = await found();
    expect(usual.length).toBeGreaterThan(0);
    expect(usual).toEqual(await found(0.5));
    for (const { score } of usual) expect(score).toBeGreaterThan(0.5);
    const unsure = await found(0.01);
    expect(
      unsure.some(({ score }) => score <= 0.5) ||
        unsure.map((one) => one.text).join('').length > usual.map((one) => one.text).join('').length,
    ).toBe(true);
  } finally {
    await redact.dispose();
  }
});
