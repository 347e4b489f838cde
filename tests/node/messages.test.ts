// Error messages say what is allowed or what to do instead.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { env, type PeruseError, pipeline } from '../../web/dist/index_node.js';

const kSentiment = 'models/peruse-sentiment-convbert-tiny';
const kTagger = 'models/peruse-tagger-convbert-tiny';

const load = pipeline as unknown as (
  ...given: unknown[]
) => Promise<((...given: unknown[]) => Promise<unknown>) & { dispose(): Promise<void> }>;
const call = async (task: string, source: string, ...given: unknown[]) => {
  const run = await load(task, source);
  try {
    return await run(...given);
  } finally {
    await run.dispose();
  }
};

const kCases: [string, () => unknown, string, RegExp][] = [
  ['a dtype', () => load('text-classification', kSentiment, { dtype: 'int4' }), 'invalid_argument', /'auto', 'fp32'.*not 'int4'/],
  ['a device', () => load('text-classification', kSentiment, { device: 'tpu' }), 'invalid_argument', /'auto', 'cpu'.*not 'tpu'/],
  ['a task', () => load('summarization', kSentiment), 'invalid_argument', /Use one of text-classification/],
  [
    'another task than the checkpoint is for',
    () => load('question-answering', kSentiment),
    'missing_head',
    /^The checkpoint has no tensors for question answering: .*\. It is a ConvBertForSequenceClassification: use text-classification\.$/,
  ],
  [
    'another classifier',
    () => load('multiple-choice', kTagger),
    'missing_head',
    /^The checkpoint has no head for multiple choice: it is a ConvBertForTokenClassification: use token-classification\.$/,
  ],
  [
    'a head that its family lacks',
    () => load('replaced-token-detection', kSentiment),
    'unsupported',
    /no head for replaced-token detection: it is a ConvBertForSequenceClassification: use text-classification\.$/,
  ],
  [
    'at most three tensors',
    () => load('fill-mask', kSentiment),
    'missing_head',
    /modelling: [\w.]+ \[\d+, \d+\], [\w.]+ \[\d+\], [\w.]+ \[\d+\] and \d+ more\. It is/,
  ],
  ['an address of another scheme', () => load('text-classification', 'ftp://a.example/m'), 'invalid_argument', /over http or https/],
  [
    'a number',
    () => call('text-classification', kSentiment, 'a', { top_k: 0 }),
    'invalid_argument',
    /^Option top_k must be an integer of at/,
  ],
  ['finders', () => call('redact', kTagger, 'a', { finders: [() => [{}]] }), 'invalid_argument', /^A finder must return a list for each/],
];

test.each(kCases)('%s', async (_, act, code, message) => {
  const error = await Promise.resolve(act()).then(
    () => undefined,
    (thrown: PeruseError) => thrown,
  );
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(error?.message).toMatch(/[.?!]$/);
});

test('the files that were given are listed once', async () => {
  const files = { 'config.json': await readFile(`${kSentiment}/config.json`), 'model.safetensors': new Uint8Array(8) };
  await expect(load('text-classification', files)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(
      /^Found neither tokenizer\.json nor vocab\.txt .*\(only config\.json, model\.safetensors were given\)\.$/,
    ),
  });
});

test('a file that is cut says so', async () => {
  await expect(load('text-classification', { 'config.json': '{"model_type": "be' })).rejects.toMatchObject({
    code: 'malformed_file',
    message: 'config.json ends within its JSON, after 18 bytes: fetch it again.',
  });
});

test('env.remoteHost is an absolute address', () => {
  const before = env.remoteHost;
  expect(() => {
    env.remoteHost = 'nowhere';
  }).toThrow(/^env\.remoteHost must be an absolute URL, not 'nowhere'\.$/);
  expect(env.remoteHost).toBe(before);
});

test('control characters of files and callers are escapes in messages', async () => {
  const hostile = 'a\u001b[2Jb\u202ec\u0000';
  const error = await pipeline('text-classification', { [`${hostile}.json`]: new Uint8Array() }, {
    worker: false,
    [hostile]: 1,
  } as never).catch((reason: Error) => reason);
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('a\\u001b[2Jb\\u202ec\\u0000') });
});
