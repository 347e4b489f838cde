import { kBatchOptions, runTexts, textColumn } from './batch/run_batch.js';
import { type Command, list, text } from './command.js';
import { kModelOptions, modelAndTexts } from './model_options.js';
import { taskFlags } from './task_flags.js';

const kFlags = taskFlags('text-classification');
const kLabelFlags = taskFlags('zero-shot-classification');

export const classify: Command = {
  summary: 'Label texts, one JSON line each',
  usage: '<model> [text ...]',
  details: 'Without a text argument, each non-empty line of standard input is a text.',
  options: {
    ...kFlags.options,
    labels: { type: 'string', value: 'a,b,c', help: 'choose among these labels, with a model for natural-language inference' },
    ...kLabelFlags.options,
    'pair-column': { type: 'string', value: 'name', help: 'with --in: the column of the second text, for models that read pairs' },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = modelAndTexts('classify', positionals);
    const labels = list(values, 'labels');
    const column = text(values, 'column') ?? 'text';
    const common = { name: 'classify', model, texts };
    if (labels !== undefined) {
      const options = kLabelFlags.from(values);
      return runTexts(
        {
          ...common,
          task: 'zero-shot-classification',
          columns: ['labels', 'scores'],
          inputOf: (row) => textColumn(row, column),
          run: async (sorter, inputs) => (await sorter(inputs, labels, options)).map(({ sequence: _, ...result }) => result),
          lineOf: (sequence, result) => ({ sequence, ...(result as object) }),
        },
        values,
        io,
      );
    }
    const { top_k: count = 1, ...rest } = kFlags.from(values);
    const options = { truncation: false, ...rest, top_k: count === 0 ? null : count };
    const pair = text(values, 'pair-column');
    return runTexts<'text-classification', { text: string; text_pair: string }>(
      {
        ...common,
        task: 'text-classification',
        columns: count === 1 ? ['label', 'score'] : ['labels'],
        inputOf: (row) =>
          pair === undefined ? textColumn(row, column) : { text: textColumn(row, column), text_pair: textColumn(row, pair) },
        run: (classifier, inputs) => classifier(inputs, options),
        lineOf: (one, result) => ({ text: one, ...(count === 1 ? (result as object) : { labels: result }) }),
      },
      values,
      io,
    );
  },
};
