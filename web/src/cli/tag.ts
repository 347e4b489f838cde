// peruse tag: entities in texts.
import { choice, needed, number, type Command } from './command.js';
import { given, kModelOptions, textBatches, withModel } from './model_options.js';

export const tag: Command = {
  summary: 'Find entities in texts, one JSON line a text',
  usage: '<model> [text ...]',
  details: 'Without a text, each line of standard input that is not empty is one. start and end are UTF-16 indices into it.',
  options: {
    aggregation: { type: 'string', value: 'name', help: 'none, simple, first, average or max: how tokens become entities (simple)' },
    stride: { type: 'string', value: 'n', help: 'read texts that are too long in windows that overlap by n tokens' },
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = needed(positionals, ['model']);
    const options = given({
      aggregation_strategy: choice(values, 'aggregation', ['none', 'simple', 'first', 'average', 'max']) ?? 'simple' as const,
      stride: number(values, 'stride'),
    });
    await withModel('token-classification', model, values, io, async (tagger) => {
      for await (const batch of textBatches(texts, io)) {
        const results: unknown[] = await tagger(batch, options);
        results.forEach((entities, index) => io.out(JSON.stringify({ text: batch[index], entities })));
      }
    });
  },
};
