import { readFile } from 'node:fs/promises';
import { env } from '../env.js';
import { describeError, PeruseError } from '../errors.js';
import { type PretrainOptions, pretrain as pretrainModel, type TeachProgress } from '../teach/index_node.js';
import { refuseOccupied } from '../teach/save_node.js';
import { type Command, flag, needed, number, text, UsageError, type Values } from './command.js';
import type { Io } from './io.js';
import { LessonProgress } from './lesson_progress.js';
import { given, kModelOptions, kSourceOptions } from './model_options.js';
import { jsonLine, printable } from './printable.js';

const kObjectives = ['mlm', 'rtd'] as const;

export const pretrain: Command = {
  summary: "Continue a model's pre-training on plain text, and write it to a folder",
  usage: '<mlm|rtd> <model> <text.txt>',
  details: `Each line of the file is a text; long texts are split.
  mlm  the model predicts masked words
  rtd  a generator replaces words, and the model detects the replaced ones; the
       generator is also trained, and written to generator/
Prints the measurements as JSON.`,
  options: {
    out: { type: 'string', short: 'o', value: 'folder', help: 'folder for the trained model' },
    overwrite: { type: 'boolean', help: 'replace a model in the folder' },
    validation: { type: 'string', value: 'file|share', help: 'validation lines: a file, or a share of the lines, for example 0.2' },
    generator: { type: 'string', value: 'model', help: 'rtd: the generator to continue with (a new one, smaller than the model)' },
    'detection-weight': {
      type: 'string',
      value: 'x',
      help: "rtd: weight of the model's loss relative to the generator's (50; DeBERTa 10)",
    },
    'mask-share': { type: 'string', value: 'x', help: "share of a text's words to mask (0.15)" },
    epochs: { type: 'string', value: 'n', help: 'passes over the lines (enough for 150 updates, at least 3)' },
    'learning-rate': { type: 'string', value: 'x', help: "highest learning rate (by the model's size)" },
    'batch-size': { type: 'string', value: 'n', help: 'number of lines in an update (16)' },
    'max-length': { type: 'string', value: 'n', help: "maximum number of tokens of a text (the model's limit, at most 512)" },
    patience: { type: 'string', value: 'n', help: 'stop after n epochs without a better validation result' },
    seed: { type: 'string', value: 'n', help: 'seed of random numbers (42)' },
    threads: kModelOptions.threads!,
    'no-cache': kModelOptions['no-cache']!,
    ...kSourceOptions,
  },
  async run(positionals, values, io) {
    const [name, model, file, ...rest] = needed(positionals, ['mlm|rtd', 'model', 'text.txt']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const objective = kObjectives.find((one) => one === name);
    if (objective === undefined) throw new UsageError(`pretrain takes ${kObjectives.join(' or ')}, not '${name}'`);
    const out = text(values, 'out');
    if (out === undefined || out.trim() === '') throw new UsageError('--out is missing: the folder for the model');
    const overwrite = flag(values, 'overwrite');
    const options = readOptions(values, io);
    if (flag(values, 'no-cache')) env.cache = false;
    const lines = await readLines(file);
    if (!overwrite) await refuseOccupied(out);
    const validation = await readValidation(text(values, 'validation'));
    const shown = new LessonProgress(io);
    try {
      const progress_callback = (progress: TeachProgress) => shown.tell(progress);
      const trained = await pretrainModel(objective, model, lines, { ...options, ...given({ validation }), progress_callback });
      shown.clear();
      for (const notice of trained.report.notices) io.err(`${printable(notice)}\n`);
      await trained.save(out, { overwrite });
      const { losses: _, notices: __, labels: ___, ...report } = trained.report;
      io.out(jsonLine({ folder: out, ...report }));
    } finally {
      shown.clear();
    }
  },
};

function readOptions(values: Values, io: Io): PretrainOptions {
  return given<PretrainOptions>({
    generator: text(values, 'generator'),
    detection_weight: number(values, 'detection-weight'),
    mask_share: number(values, 'mask-share'),
    epochs: number(values, 'epochs'),
    learning_rate: number(values, 'learning-rate'),
    batch_size: number(values, 'batch-size'),
    max_length: number(values, 'max-length'),
    patience: number(values, 'patience'),
    seed: number(values, 'seed'),
    threads: number(values, 'threads'),
    revision: text(values, 'revision'),
    token: text(values, 'token') ?? io.environment.HF_TOKEN,
    offline: flag(values, 'offline') || undefined,
  });
}

async function readValidation(given: string | undefined): Promise<string[] | number | undefined> {
  if (given === undefined) return undefined;
  const share = Number(given);
  return Number.isNaN(share) ? readLines(given) : share;
}

async function readLines(file: string): Promise<string[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new PeruseError('not_found', `${file} can't be read: ${describeError(error)}`, { cause: error });
  });
  return content.split(/\r?\n/).filter((line) => line.trim() !== '');
}
