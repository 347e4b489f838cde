import { readFile } from 'node:fs/promises';
import { type PretrainOptions, pretrain as pretrainModel } from '../teach/index_node.js';
import { kPretrainOptions } from '../teach/pretrain.js';
import { type Command, needed, text, UsageError } from './command.js';
import { given, optionFlags } from './task_flags.js';
import { trainingFlags, trainToFolder } from './training.js';

const kObjectives = ['mlm', 'rtd'] as const;

const kFlags = optionFlags<Pick<PretrainOptions, 'detection_weight' | 'mask_share' | 'max_length'>>(kPretrainOptions, {
  detection_weight: { help: "rtd: weight of the model's loss relative to the generator's (50; DeBERTa 10)" },
  mask_share: { help: "share of a text's words to mask (0.15)" },
  max_length: { help: "maximum number of tokens of a text (the model's limit, at most 512)" },
});

export const pretrain: Command = {
  summary: "Continue a model's pre-training on plain text, and write it to a folder",
  usage: '<mlm|rtd> <model> <text.txt>',
  details: `Each line of the file is a text; long texts are split.
  mlm  the model predicts masked words
  rtd  a generator replaces words, and the model detects the replaced ones; the
       generator is also trained, and written to generator/
Prints the measurements as JSON.`,
  options: {
    generator: { type: 'string', value: 'model', help: 'rtd: the generator to continue with (a new one, smaller than the model)' },
    ...kFlags.options,
    ...trainingFlags('lines'),
  },
  async run(positionals, values, io) {
    const [name, model, file, ...rest] = needed(positionals, ['mlm|rtd', 'model', 'text.txt']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const objective = kObjectives.find((one) => one === name);
    if (objective === undefined) throw new UsageError(`pretrain takes ${kObjectives.join(' or ')}, not '${name}'`);
    const own = given({ generator: text(values, 'generator'), ...kFlags.from(values) });
    const train = (lines: string[], options: object) => pretrainModel(objective, model, lines, { ...options, ...own });
    const models = [model, own.generator].filter((one) => one !== undefined);
    await trainToFolder<string>({ models, file, parse, train }, values, io, ['labels']);
  },
};

async function parse(file: string): Promise<string[]> {
  const content = await readFile(file, 'utf8');
  return content.split(/\r?\n/).filter((line) => line.trim() !== '');
}
