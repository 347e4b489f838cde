// The common part of the commands teach and pretrain: flags, and the way from a file of examples to a saved model.
import { env } from '../env.js';
import { describeError, PeruseError } from '../errors.js';
import { refuseOccupied } from '../sources/staged_folder_node.js';
import { refuseSources } from '../teach/files_node.js';
import type { PretrainOptions, TeachProgress, TeachReport } from '../teach/index_node.js';
import { teachSchema } from '../teach/options.js';
import { flag, number, type Options, text, UsageError, type Values } from './command.js';
import { type Io, jsonLine, printable } from './io.js';
import { explainModel, kModelOptions, kSourceOptions } from './model_options.js';
import { LessonProgress } from './progress_bar.js';
import { given, optionFlags } from './task_flags.js';

type Numbers = Pick<PretrainOptions, 'epochs' | 'learning_rate' | 'batch_size' | 'patience' | 'seed'>;

const numberFlags = (examples: string) =>
  optionFlags<Numbers>(teachSchema(), {
    epochs: { help: `passes over the ${examples} (enough for 150 updates, at least 3)` },
    learning_rate: { help: "highest learning rate (by the kind of training and the model's size)" },
    batch_size: { help: `number of ${examples} in an update (16)` },
    patience: { help: 'stop after n epochs without a better validation result' },
    seed: { help: 'seed of random numbers (42)' },
  });

/** The flags of both commands. `examples` is the word for examples in their descriptions. */
export function trainingFlags(examples: string): Options {
  return {
    out: { type: 'string', short: 'o', value: 'folder', help: 'folder for the trained model' },
    overwrite: { type: 'boolean', help: 'replace a model in the folder' },
    validation: {
      type: 'string',
      value: 'file|share',
      help: `validation ${examples}: a file, or a share of the ${examples}, for example 0.2`,
    },
    ...numberFlags(examples).options,
    threads: kModelOptions.threads!,
    'no-cache': kModelOptions['no-cache']!,
    ...kSourceOptions,
  };
}

interface Trained {
  report: TeachReport;
  save(folder: string, options: { overwrite: boolean }): Promise<void>;
}

interface Training<E> {
  /** The model, and a generator. */
  models: string[];
  file: string;
  /** Reads a file of examples. */
  parse(file: string): Promise<E[]>;
  train(examples: E[], options: TrainingOptions<E>): Promise<Trained>;
}

export interface TrainingOptions<E> extends Omit<PretrainOptions, 'validation' | 'generator' | 'detection_weight' | 'mask_share'> {
  validation?: E[] | number;
}

/** Trains a model on the examples in a file, saves it, and prints the report without `omitted`. */
export async function trainToFolder<E>(
  { models, file, parse, train }: Training<E>,
  values: Values,
  io: Io,
  omitted: string[] = [],
): Promise<void> {
  const out = text(values, 'out');
  if (out === undefined || out.trim() === '') throw new UsageError('--out is missing: the folder for the model');
  const overwrite = flag(values, 'overwrite');
  const options: TrainingOptions<E> = given({
    ...numberFlags('').from(values),
    threads: number(values, 'threads'),
    revision: text(values, 'revision'),
    token: text(values, 'token') ?? io.environment.HF_TOKEN,
    offline: flag(values, 'offline') || undefined,
  });
  if (flag(values, 'no-cache')) env.cache = false;
  const examples = await readable(file, parse);
  await refuseSources(models, out);
  if (!overwrite) await refuseOccupied(out);
  const validation = text(values, 'validation');
  const share = Number(validation);
  if (validation !== undefined) options.validation = Number.isNaN(share) ? await readable(validation, parse) : share;
  const shown = new LessonProgress(io);
  try {
    const trained = await train(examples, { ...options, progress_callback: (progress: TeachProgress) => shown.tell(progress) });
    shown.clear();
    for (const notice of trained.report.notices) io.err(`${printable(notice)}\n`);
    await trained.save(out, { overwrite });
    const report = Object.entries(trained.report).filter(([name]) => !['losses', 'notices', ...omitted].includes(name));
    io.out(jsonLine({ folder: out, ...Object.fromEntries(report) }));
  } catch (error) {
    throw explainModel(error, models);
  } finally {
    shown.clear();
  }
}

async function readable<E>(file: string, parse: (file: string) => Promise<E[]>): Promise<E[]> {
  return parse(file).catch((error: unknown) => {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('not_found', `${file} can't be read: ${describeError(error)}`, { cause: error });
  });
}
