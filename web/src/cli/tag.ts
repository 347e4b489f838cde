import { kBatchOptions, runTexts, textColumn } from './batch/run_batch.js';
import { type Command, flag, list, text } from './command.js';
import { kModelOptions, modelAndTexts } from './model_options.js';
import { taskFlags } from './task_flags.js';

const kFlags = taskFlags('token-classification');
const kLabelFlags = taskFlags('zero-shot-token-classification');

export const tag: Command = {
  summary: 'Find entities in texts, one JSON line for each text',
  usage: '<model> [text ...]',
  details: 'Without a text argument, each non-empty line of standard input is a text. start and end are UTF-16 indices into it.',
  options: {
    ...kFlags.options,
    labels: { type: 'string', value: 'a,b,c', help: 'find entities of these labels with a GLiNER model' },
    ...kLabelFlags.options,
    nested: { type: 'boolean', help: 'with --labels: an entity may contain another' },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = modelAndTexts('tag', positionals);
    const labels = list(values, 'labels');
    const common = {
      name: 'tag',
      model,
      texts,
      columns: ['entities'],
      inputOf: (row: Record<string, unknown>) => textColumn(row, text(values, 'column') ?? 'text'),
      lineOf: (one: string, entities: unknown) => ({ text: one, entities }),
    };
    if (labels !== undefined) {
      const options = { ...kLabelFlags.from(values), ...(flag(values, 'nested') && { flat_ner: false }) };
      return runTexts(
        { ...common, task: 'zero-shot-token-classification', run: (extract, inputs) => extract(inputs, labels, options) },
        values,
        io,
      );
    }
    const options = { aggregation_strategy: 'simple' as const, ...kFlags.from(values) };
    return runTexts({ ...common, task: 'token-classification', run: (tagger, inputs) => tagger(inputs, options) }, values, io);
  },
};
