import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, needed, number, text } from './command.js';
import { allTexts, given, kModelOptions, withModel } from './model_options.js';
import { jsonLine } from './printable.js';

export const rank: Command = {
  summary: 'Sort documents by their relevance to a query, one JSON line each',
  usage: '<model> <query> [document ...]',
  details: 'Without a document argument, each non-empty line of standard input is a document. corpus_id counts documents from 0.',
  options: {
    'top-k': { type: 'string', short: 'k', value: 'n', help: 'number of documents to print, best first (all)' },
    label: { type: 'string', value: 'name', help: 'for a model with several labels: the label to rank by' },
    'max-length': { type: 'string', value: 'n', help: "tokens that query and document are cut to (the model's, at most 512)" },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...rest] = needed(positionals, ['model']);
    const settings = given({ label: text(values, 'label'), max_length: number(values, 'max-length') });
    if (readsRows(values, rest.slice(1))) {
      const column = text(values, 'column') ?? 'text';
      return runRows(
        {
          name: 'rank',
          task: 'text-ranking',
          model,
          columns: ['score'],
          inputOf: (row) => ({ query: rest[0] ?? textColumn(row, 'query'), document: textColumn(row, column) }),
          async run(ranker, inputs) {
            const scores: number[] = [];
            for (const { query, document } of inputs) scores.push((await ranker(query, [document], settings))[0]!.score);
            return scores;
          },
        },
        values,
        io,
      );
    }
    const [, query, ...documents] = needed(positionals, ['model', 'query']);
    const all = await allTexts(documents, io);
    await withModel('text-ranking', model, values, io, async (ranker) => {
      const options = given({
        top_k: number(values, 'top-k'),
        ...settings,
        return_documents: true,
      });
      for (const result of await ranker(query, all, options)) io.out(jsonLine(result));
    });
  },
};
