import type { FeatureExtractionOptions } from '../tasks/feature_extraction.js';
import { kBatchOptions, runTexts, textColumn } from './batch/run_batch.js';
import { type Command, text } from './command.js';
import { kModelOptions, modelAndTexts } from './model_options.js';
import { taskFlags } from './task_flags.js';

const kFlags = taskFlags('feature-extraction');

/** The poolings that give one vector for each text. */
type EmbedFlags = Omit<FeatureExtractionOptions, 'pooling'> & { pooling: 'mean' | 'sentence' };

export const embed: Command = {
  summary: 'Turn texts into vectors, one JSON line each',
  usage: '<model> [text ...]',
  details: 'Without a text argument, each non-empty line of standard input is a text.',
  options: { ...kFlags.options, ...kBatchOptions, ...kModelOptions },
  async run(positionals, values, io) {
    const [model, ...texts] = modelAndTexts('embed', positionals);
    const hasPrompt = values.prompt !== undefined || values['prompt-name'] !== undefined;
    const options = {
      pooling: hasPrompt ? ('sentence' as const) : ('mean' as const),
      truncation: false,
      ...kFlags.from(values),
    } as EmbedFlags;
    // 9 digits suffice to restore every float32 value
    const numbers = (data: ArrayLike<number>) => Array.from(data, (value) => Number(value.toPrecision(9)));
    return runTexts(
      {
        name: 'embed',
        task: 'feature-extraction',
        model,
        texts,
        columns: ['embedding'],
        inputOf: (row) => textColumn(row, text(values, 'column') ?? 'text'),
        run: async (embedder, inputs) => Array.from(await embedder(inputs, options), ({ data }) => numbers(data)),
        lineOf: (one, embedding) => ({ text: one, embedding }),
      },
      values,
      io,
    );
  },
};
