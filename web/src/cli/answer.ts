import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, needed, text, UsageError } from './command.js';
import { jsonLine } from './io.js';
import { kModelOptions, withModel } from './model_options.js';
import { taskFlags } from './task_flags.js';

const kFlags = taskFlags('question-answering');

export const answer: Command = {
  summary: 'Answer a question from a text, one JSON line for each answer',
  usage: '<model> <question> [text ...]',
  details: 'Without a text argument, standard input is the text. start and end are UTF-16 indices into the text.',
  options: { ...kFlags.options, ...kBatchOptions, ...kModelOptions },
  async run(positionals, values, io) {
    const [model, ...rest] = needed(positionals, ['model']);
    const options = kFlags.from(values);
    if (readsRows(values, rest.slice(1))) {
      const column = text(values, 'column') ?? 'context';
      return runRows(
        {
          name: 'answer',
          task: 'question-answering',
          model,
          columns: options.top_k === undefined || options.top_k === 1 ? ['answer', 'score', 'start', 'end'] : ['answers'],
          inputOf: (row) => ({ question: rest[0] ?? textColumn(row, 'question'), context: textColumn(row, column) }),
          run: (reader, inputs) =>
            reader(
              inputs.map(({ question }) => question),
              inputs.map(({ context }) => context),
              options,
            ),
        },
        values,
        io,
      );
    }
    const [, question, ...texts] = needed(positionals, ['model', 'question']);
    if (texts.length === 0 && io.inputIsTty) throw new UsageError('no text was given, neither as an argument nor on standard input');
    const contexts = texts.length > 0 ? texts : [await io.all()];
    await withModel('question-answering', model, values, io, async (reader) => {
      for (const context of contexts) {
        const answers: unknown = await reader(question, context, options);
        for (const one of Array.isArray(answers) ? answers : [answers]) io.out(jsonLine(one));
      }
    });
  },
};
