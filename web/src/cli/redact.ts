import type { Pipeline } from '../pipeline.js';
import { kPatternNames, type PatternName } from '../redact/pattern_names.js';
import { Placeholders } from '../redact/placeholders.js';
import { kPlaceholders } from '../redact/session.js';
import type { RedactCall, Redaction, RedactOptions } from '../redact/types.js';
import { createRedactor } from '../redactor.js';
import { kBatchOptions, readsRows, runRows, textColumn } from './batch/run_batch.js';
import { type Command, flag, list, text, UsageError } from './command.js';
import { type Io, jsonLine } from './io.js';
import { kModelOptions, modelAndTexts, textBatches, withModel } from './model_options.js';
import { given, taskFlags } from './task_flags.js';

const kFlags = taskFlags('redact');

function rulesOf(list: string | undefined): Record<string, 'luhn' | 'iban'> | undefined {
  if (list === undefined) return undefined;
  const rules = list.split(',').map((item): [string, 'luhn' | 'iban'] => {
    const [type = '', rule] = item.split('=');
    if (rule === 'luhn' || rule === 'iban') return [type.trim(), rule];
    throw new UsageError(`--rules takes TYPE=luhn and TYPE=iban, not '${item}'`);
  });
  return Object.fromEntries(rules);
}

/** Returns the mapping of one line's own placeholders: readers of the line must not see the details of other lines. */
function ownMapping({ entities }: Redaction): Record<string, string> {
  return Object.fromEntries(entities.map(({ placeholder, text: original }) => [placeholder, original]));
}

/** Counts the letters and digits that the model could not read. */
class UnreadCount {
  #letters = 0;
  #texts = 0;

  add(text: string, { unread }: Redaction): void {
    const letters = unread.map(({ start, end }) => text.slice(start, end).match(/[\p{L}\p{N}\p{Surrogate}]/gu)?.length ?? 0);
    this.#letters += letters.reduce((sum, count) => sum + count, 0);
    this.#texts += unread.length > 0 ? 1 : 0;
  }

  report(io: Io): void {
    if (this.#texts === 0) return;
    io.err(
      `${this.#letters} letters in ${this.#texts} ${this.#texts === 1 ? 'text' : 'texts'} are in a script that this model does not read.\n`,
    );
  }
}

const kWithoutModel =
  ', with a model that finds names; with --without-model instead of a model, only patterns such as e-mail addresses are found';

export const redact: Command = {
  summary: 'Replace personal data in texts by placeholders',
  usage: '<model> [text ...]',
  details:
    'The model is a token classifier, for example of PII or names; with --labels a GLiNER model; --without-model needs none.\n' +
    'Without a text argument, each line of standard input is a text. The same words get the same placeholder in all texts;\n' +
    'with --in, only in the same row. Prints the redacted texts; with --json one JSON line for each.\n' +
    `Patterns: ${kPatternNames.join(', ')}.`,
  options: {
    types: { type: 'string', value: 'a,b', help: 'replace only these types (all types of the model)' },
    ...kFlags.options,
    labels: { type: 'string', value: 'a,b', help: 'find details of these labels with a GLiNER model' },
    rules: {
      type: 'string',
      value: 'T=rule',
      help: 'keep entities of type T with wrong check digits (luhn, iban); several with commas',
    },
    patterns: { type: 'boolean', help: 'also replace e-mail addresses, links, IBANs, card and telephone numbers by their form' },
    'pattern-types': { type: 'string', value: 'A,B', help: 'only these patterns' },
    'without-model': { type: 'boolean', help: 'use patterns only' },
    'fail-closed': { type: 'boolean', help: 'fail if the model cannot read a part of a text' },
    json: { type: 'boolean', help: "print { text, entities, mapping }, the mapping of the line's own placeholders" },
    ...kBatchOptions,
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const withoutModel = flag(values, 'without-model');
    const [model, ...texts] = withoutModel ? ['', ...positionals] : modelAndTexts('redact', positionals, kWithoutModel);
    const names = list(values, 'pattern-types') as PatternName[] | undefined;
    const patterns = names ?? (flag(values, 'patterns') || withoutModel || undefined);
    const settings = given({ labels: list(values, 'labels'), patterns, fail_closed: flag(values, 'fail-closed') || undefined });
    const options = given({
      types: list(values, 'types'),
      ...kFlags.from(values),
      rules: rulesOf(text(values, 'rules')),
    });
    const unread = new UnreadCount();
    if (readsRows(values, texts)) {
      await runRows(
        {
          name: 'redact',
          task: 'redact',
          model,
          settings,
          ...(withoutModel ? { load: async () => createRedactor(settings) as unknown as Pipeline<'redact'> } : {}),
          columns: ['redacted', 'mapping'],
          inputOf: (row) => textColumn(row, text(values, 'column') ?? 'text'),
          run: async (redactor, inputs) => {
            const one = async (input: string) => {
              const result = await redactor(input, options);
              unread.add(input, result);
              return { redacted: result.text, mapping: result.mapping };
            };
            return Promise.all(inputs.map(one));
          },
        },
        values,
        io,
      );
      return unread.report(io);
    }
    const print = async (redactor: RedactCall) => {
      const placeholders = new Placeholders();
      for await (const batch of textBatches(texts, io)) {
        const results = await redactor(batch, { ...options, [kPlaceholders]: placeholders } as RedactOptions);
        for (const [index, result] of results.entries()) {
          unread.add(batch[index]!, result);
          io.out(flag(values, 'json') ? jsonLine({ ...result, mapping: ownMapping(result) }) : result.text);
        }
      }
    };
    if (withoutModel) await print(createRedactor(settings));
    else await withModel('redact', model, values, io, print, settings);
    unread.report(io);
  },
};
