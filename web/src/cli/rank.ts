import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, needed, text } from './command.js';
import { jsonLine } from './io.js';
import { allTexts, kModelOptions, withModel } from './model_options.js';
import { given, taskFlags } from './task_flags.js';

const kFlags = taskFlags('text-ranking');

export const rank: Command = {
  summary: 'Sort documents by their relevance to a query, one JSON line each',
  usage: '<model> <query> [document ...]',
  details: 'Without a document argument, each non-empty line of standard input is a document. corpus_id counts documents from 0.',
  options: { ...kFlags.options, ...kBatchOptions, ...kModelOptions },
  async run(positionals, values, io) {
    const [model, ...rest] = needed(positionals, ['model']);
    const { top_k, ...settings } = kFlags.from(values);
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
      const options = given({ top_k, ...settings, return_documents: true });
      for (const result of await ranker(query, all, options)) io.out(jsonLine(result));
    });
  },
};
