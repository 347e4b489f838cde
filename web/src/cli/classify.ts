import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, choice, flag, list, needed, number, text } from './command.js';
import { given, kModelOptions, textBatches, withModel } from './model_options.js';
import { jsonLine } from './printable.js';

export const classify: Command = {
  summary: 'Label texts, one JSON line each',
  usage: '<model> [text ...]',
  details: 'Without a text argument, each non-empty line of standard input is a text.',
  options: {
    'top-k': { type: 'string', short: 'k', value: 'n', help: 'number of labels, best first; 0 means all (1)' },
    function: { type: 'string', value: 'name', help: 'sigmoid, softmax or none: converts logits to scores (by the model)' },
    labels: { type: 'string', value: 'a,b,c', help: 'choose among these labels, with a model for natural-language inference' },
    'multi-label': { type: 'boolean', help: 'with --labels: score each label independently' },
    stride: { type: 'string', value: 'n', help: 'read long texts in windows that share n tokens' },
    'window-label': {
      type: 'string',
      value: 'name',
      help: 'with --stride: print the scores of the window where this label scores highest',
    },
    'pair-column': { type: 'string', value: 'name', help: 'with --in: the column of the second text, for models that read pairs' },
    truncate: { type: 'boolean', help: 'cut texts that are too long; by default they are an error' },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = needed(positionals, ['model']);
    const labels = list(values, 'labels');
    const column = text(values, 'column') ?? 'text';
    if (labels !== undefined) {
      const settings = given({ multi_label: flag(values, 'multi-label') || undefined });
      if (readsRows(values, texts)) {
        return runRows(
          {
            name: 'classify',
            task: 'zero-shot-classification',
            model,
            columns: ['labels', 'scores'],
            inputOf: (row) => textColumn(row, column),
            run: async (classifier, inputs) => (await classifier(inputs, labels, settings)).map(({ sequence: _, ...result }) => result),
          },
          values,
          io,
        );
      }
      return withModel('zero-shot-classification', model, values, io, async (classifier) => {
        for await (const batch of textBatches(texts, io)) {
          for (const result of await classifier(batch, labels, settings)) {
            io.out(jsonLine(result));
          }
        }
      });
    }
    const topK = number(values, 'top-k') ?? 1;
    const options = given({
      top_k: topK === 0 ? null : topK,
      function_to_apply: choice(values, 'function', ['sigmoid', 'softmax', 'none']),
      truncation: flag(values, 'truncate') || undefined,
      stride: number(values, 'stride'),
      window_label: text(values, 'window-label'),
    });
    const pair = text(values, 'pair-column');
    if (readsRows(values, texts)) {
      return runRows(
        {
          name: 'classify',
          task: 'text-classification',
          model,
          columns: topK === 1 ? ['label', 'score'] : ['labels'],
          inputOf: (row) =>
            pair === undefined ? textColumn(row, column) : { text: textColumn(row, column), text_pair: textColumn(row, pair) },
          run: (classifier, inputs) => classifier(inputs, options),
        },
        values,
        io,
      );
    }
    return withModel('text-classification', model, values, io, async (classifier) => {
      for await (const batch of textBatches(texts, io)) {
        const results: unknown[] = await classifier(batch, options);
        results.forEach((result, index) => {
          const found = topK === 1 ? (result as object) : { labels: result };
          io.out(jsonLine({ text: batch[index], ...found }));
        });
      }
    });
  },
};
