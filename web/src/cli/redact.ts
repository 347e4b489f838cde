import { Placeholders } from '../tasks/placeholders.js';
import { kPlaceholders, type Redaction, type RedactOptions } from '../tasks/redact.js';
import { type Command, choice, flag, needed, number, text, UsageError } from './command.js';
import { given, kModelOptions, textBatches, withModel } from './model_options.js';
import { jsonLine } from './printable.js';

/** Parses '--rules CREDITCARDNUMBER=luhn,IBAN=iban'. */
function rulesOf(list: string | undefined): Record<string, 'luhn' | 'iban'> | undefined {
  if (list === undefined) return undefined;
  const rules = list.split(',').map((item): [string, 'luhn' | 'iban'] => {
    const [type = '', rule] = item.split('=');
    if (rule === 'luhn' || rule === 'iban') return [type.trim(), rule];
    throw new UsageError(`--rules takes TYPE=luhn and TYPE=iban, not '${item}'`);
  });
  return Object.fromEntries(rules);
}

/** The mapping of one line's placeholders, because its reader must not see those of other lines. */
function ownMapping({ entities }: Redaction): Record<string, string> {
  return Object.fromEntries(entities.map(({ placeholder, text: original }) => [placeholder, original]));
}

export const redact: Command = {
  summary: 'Replace personal data in texts by placeholders',
  usage: '<model> [text ...]',
  details:
    'The model is a token classifier, for example of PII or names. Without a text, each line of standard input is one.\n' +
    'The same words get the same placeholder in all of them. Prints the texts without entities; with --json a line each.',
  options: {
    types: { type: 'string', value: 'a,b', help: 'replace only these types (all that the model knows)' },
    threshold: { type: 'string', value: 'x', help: 'leave what the model is less sure of (0)' },
    recall: { type: 'string', value: 'p', help: 'replace what is nothing private with a probability below p: finds more (0)' },
    rules: {
      type: 'string',
      value: 'T=rule',
      help: 'leave entities of type T whose check digits (luhn, iban) are wrong; several with commas',
    },
    patterns: { type: 'boolean', help: 'also replace e-mail addresses, links, IBANs, card and telephone numbers by their form' },
    aggregation: { type: 'string', value: 'name', help: 'simple, first, average or max: how tokens become entities (simple)' },
    json: { type: 'boolean', help: "print { text, entities, mapping }, the mapping of the line's own placeholders" },
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const [model, ...texts] = needed(positionals, ['model']);
    const options = given({
      types: text(values, 'types')
        ?.split(',')
        .map((type) => type.trim()),
      threshold: number(values, 'threshold'),
      recall: number(values, 'recall'),
      rules: rulesOf(text(values, 'rules')),
      patterns: flag(values, 'patterns') || undefined,
      aggregation_strategy: choice(values, 'aggregation', ['simple', 'first', 'average', 'max']),
    });
    await withModel('redact', model, values, io, async (redactor) => {
      const placeholders = new Placeholders();
      for await (const batch of textBatches(texts, io)) {
        for (const result of await redactor(batch, { ...options, [kPlaceholders]: placeholders } as RedactOptions)) {
          io.out(flag(values, 'json') ? jsonLine({ ...result, mapping: ownMapping(result) }) : result.text);
        }
      }
    });
  },
};
