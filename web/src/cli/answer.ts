import { type Command, flag, needed, number, UsageError } from './command.js';
import { given, kModelOptions, withModel } from './model_options.js';
import { jsonLine } from './printable.js';

export const answer: Command = {
  summary: 'Answer a question from a text, one JSON line an answer',
  usage: '<model> <question> [text ...]',
  details: 'Without a text, all of standard input is the text. start and end are UTF-16 indices into it.',
  options: {
    'top-k': { type: 'string', short: 'k', value: 'n', help: 'so many answers a text, best first (1)' },
    impossible: { type: 'boolean', help: 'the answer may be that there is none' },
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, question, ...texts] = needed(positionals, ['model', 'question']);
    if (texts.length === 0 && io.inputIsTty) throw new UsageError('no text was given, neither as an argument nor on standard input');
    const contexts = texts.length > 0 ? texts : [await io.all()];
    const options = given({ top_k: number(values, 'top-k'), handle_impossible_answer: flag(values, 'impossible') || undefined });
    await withModel('question-answering', model, values, io, async (reader) => {
      for (const context of contexts) {
        const answers: unknown = await reader(question, context, options);
        for (const one of Array.isArray(answers) ? answers : [answers]) io.out(jsonLine(one));
      }
    });
  },
};
