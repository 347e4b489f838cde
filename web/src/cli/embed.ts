import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, choice, flag, needed, number, text } from './command.js';
import { given, kModelOptions, textBatches, withModel } from './model_options.js';
import { jsonLine } from './printable.js';

export const embed: Command = {
  summary: 'Turn texts into vectors, one JSON line each',
  usage: '<model> [text ...]',
  details: 'Without a text argument, each non-empty line of standard input is a text.',
  options: {
    pooling: {
      type: 'string',
      value: 'name',
      help: "cls, mean or max: pools token vectors to one (mean); sentence: as the model's files say",
    },
    'prompt-name': {
      type: 'string',
      value: 'name',
      help: "a prompt by its name in the model's files, for example query; implies pooling sentence",
    },
    prompt: { type: 'string', value: 'text', help: 'a text to put before each text; implies pooling sentence' },
    dimensions: { type: 'string', value: 'n', help: 'keep the first n numbers of each vector' },
    normalize: { type: 'boolean', help: 'scale each vector to length 1' },
    truncate: { type: 'boolean', help: 'cut texts that are too long; by default they are an error' },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = needed(positionals, ['model']);
    const hasPrompt = values.prompt !== undefined || values['prompt-name'] !== undefined;
    const options = given({
      pooling: choice(values, 'pooling', ['cls', 'mean', 'max', 'sentence']) ?? (hasPrompt ? ('sentence' as const) : ('mean' as const)),
      prompt: text(values, 'prompt'),
      prompt_name: text(values, 'prompt-name'),
      dimensions: number(values, 'dimensions'),
      normalize: flag(values, 'normalize') || undefined,
      truncation: flag(values, 'truncate') || undefined,
    });
    // 9 digits suffice to restore every float32 value
    const numbers = (data: Float32Array) => Array.from(data, (value) => Number(value.toPrecision(9)));
    if (readsRows(values, texts)) {
      return runRows(
        {
          name: 'embed',
          task: 'feature-extraction',
          model,
          columns: ['embedding'],
          inputOf: (row) => textColumn(row, text(values, 'column') ?? 'text'),
          run: async (embedder, inputs) => (await embedder(inputs, options)).map(({ data }) => numbers(data)),
        },
        values,
        io,
      );
    }
    await withModel('feature-extraction', model, values, io, async (embedder) => {
      for await (const batch of textBatches(texts, io)) {
        const vectors = await embedder(batch, options);
        vectors.forEach(({ data }, index) => {
          io.out(jsonLine({ text: batch[index], embedding: numbers(data) }));
        });
      }
    });
  },
};
