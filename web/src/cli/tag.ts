import type { Pipeline } from '../pipeline.js';
import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, choice, flag, list, needed, number, text } from './command.js';
import { given, kModelOptions, textBatches, withModel } from './model_options.js';
import { jsonLine } from './printable.js';

export const tag: Command = {
  summary: 'Find entities in texts, one JSON line for each text',
  usage: '<model> [text ...]',
  details: 'Without a text argument, each non-empty line of standard input is a text. start and end are UTF-16 indices into it.',
  options: {
    aggregation: { type: 'string', value: 'name', help: 'none, simple, first, average or max: how tokens become entities (simple)' },
    stride: { type: 'string', value: 'n', help: 'read long texts in windows that share n tokens' },
    'max-length': { type: 'string', value: 'n', help: "with --stride: number of tokens in a window (the model's limit)" },
    labels: { type: 'string', value: 'a,b,c', help: 'find entities of these labels with a GLiNER model' },
    threshold: { type: 'string', value: 'p', help: 'with --labels: minimum score (0.5)' },
    nested: { type: 'boolean', help: 'with --labels: an entity may contain another' },
    'multi-label': { type: 'boolean', help: 'with --labels: the same words may have several labels' },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = needed(positionals, ['model']);
    const labels = list(values, 'labels');
    const inputOf = (row: Record<string, unknown>) => textColumn(row, text(values, 'column') ?? 'text');
    const rows = { name: 'tag', model, columns: ['entities'], inputOf };
    if (labels !== undefined) {
      const settings = given({
        threshold: number(values, 'threshold'),
        flat_ner: flag(values, 'nested') ? false : undefined,
        multi_label: flag(values, 'multi-label') || undefined,
      });
      if (readsRows(values, texts)) {
        const run = (extract: Pipeline<'zero-shot-token-classification'>, inputs: readonly string[]) => extract(inputs, labels, settings);
        return runRows({ ...rows, task: 'zero-shot-token-classification', run }, values, io);
      }
      return withModel('zero-shot-token-classification', model, values, io, async (extract) => {
        for await (const batch of textBatches(texts, io)) {
          const results = await extract(batch, labels, settings);
          results.forEach((entities, index) => {
            io.out(jsonLine({ text: batch[index], entities }));
          });
        }
      });
    }
    const options = given({
      aggregation_strategy: choice(values, 'aggregation', ['none', 'simple', 'first', 'average', 'max']) ?? ('simple' as const),
      stride: number(values, 'stride'),
      max_length: number(values, 'max-length'),
    });
    if (readsRows(values, texts)) {
      const run = (tagger: Pipeline<'token-classification'>, inputs: readonly string[]) => tagger(inputs, options);
      return runRows({ ...rows, task: 'token-classification', run }, values, io);
    }
    return withModel('token-classification', model, values, io, async (tagger) => {
      for await (const batch of textBatches(texts, io)) {
        const results: unknown[] = await tagger(batch, options);
        results.forEach((entities, index) => {
          io.out(jsonLine({ text: batch[index], entities }));
        });
      }
    });
  },
};
