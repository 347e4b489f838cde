import { readFile } from 'node:fs/promises';
import { env } from '../env.js';
import { describeError, PeruseError } from '../errors.js';
import { kTeachTasks, type TeachTask } from '../tasks/training.js';
import { type TeachExample, type TeachMethod, type TeachOptions, type TeachProgress, teach as teachModel } from '../teach/index_node.js';
import { refuseOccupied } from '../teach/save_node.js';
import { type Command, choice, flag, list, needed, number, text, UsageError, type Values } from './command.js';
import type { Io } from './io.js';
import { LessonProgress } from './lesson_progress.js';
import { given, kModelOptions, kSourceOptions } from './model_options.js';
import { jsonLine, printable } from './printable.js';

const kMethods = ['head', 'layers', 'lora', 'full'] as const;

export const teach: Command = {
  summary: 'Train a model on examples, and write it to a folder',
  usage: '<task> <model> <examples.jsonl>',
  details: `Each line of the file is an example:
  text-classification   {"text", "label"}; the same for zero-shot-classification (GLiClass)
  token-classification  {"text", "entities": [{"start", "end", "label"}]}
  question-answering    {"question", "context", "answer": {"start", "end"}}
Prints the measurements as JSON.`,
  options: {
    out: { type: 'string', short: 'o', value: 'folder', help: 'folder for the trained model' },
    overwrite: { type: 'boolean', help: 'replace a model in the folder' },
    validation: { type: 'string', value: 'file|share', help: 'validation examples: a file, or a share of the examples, for example 0.2' },
    method: {
      type: 'string',
      value: 'name',
      help: 'head, layers, lora or full (for texts head or full, the better one; otherwise full)',
    },
    layers: { type: 'string', value: 'n', help: 'with --method layers: number of last layers to train (2)' },
    epochs: { type: 'string', value: 'n', help: 'passes over the examples (enough for 150 updates, at least 3)' },
    'learning-rate': { type: 'string', value: 'x', help: 'highest learning rate (by method and model size)' },
    'batch-size': { type: 'string', value: 'n', help: 'number of examples in an update (16)' },
    labels: { type: 'string', value: 'a,b,c', help: "the labels in the model's order (the model's own, or those of the examples)" },
    patience: { type: 'string', value: 'n', help: 'stop after n epochs without a better validation result' },
    sift: { type: 'boolean', help: 'scale-invariant fine-tuning: more stable, about three times the work' },
    seed: { type: 'string', value: 'n', help: 'seed of random numbers (42)' },
    threads: kModelOptions.threads!,
    'no-cache': kModelOptions['no-cache']!,
    ...kSourceOptions,
  },
  async run(positionals, values, io) {
    const [taskName, model, file, ...rest] = needed(positionals, ['task', 'model', 'examples.jsonl']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const task = kTeachTasks.find((name) => name === taskName);
    if (task === undefined) throw new UsageError(`<task> is ${kTeachTasks.join(' or ')}, not '${taskName}'`);
    const out = text(values, 'out');
    if (out === undefined || out.trim() === '') throw new UsageError('--out is missing: the folder for the model');
    const overwrite = flag(values, 'overwrite');
    const options = readOptions(values, io);
    if (flag(values, 'no-cache')) env.cache = false;
    const examples = await readExamples(file);
    if (!overwrite) await refuseOccupied(out);
    const validation = await readValidation(text(values, 'validation'));
    const shown = new LessonProgress(io);
    try {
      const progress_callback = (progress: TeachProgress) => shown.tell(progress);
      const taught = await teachModel<TeachTask>(task, model, examples, { ...options, ...given({ validation }), progress_callback });
      shown.clear();
      for (const notice of taught.report.notices) io.err(`${printable(notice)}\n`);
      await taught.save(out, { overwrite });
      const { losses: _, notices: __, ...report } = taught.report;
      io.out(jsonLine({ folder: out, ...report }));
    } finally {
      shown.clear();
    }
  },
};

function readOptions(values: Values, io: Io): TeachOptions {
  return given<TeachOptions>({
    method: readMethod(values),
    epochs: number(values, 'epochs'),
    learning_rate: number(values, 'learning-rate'),
    batch_size: number(values, 'batch-size'),
    labels: list(values, 'labels'),
    patience: number(values, 'patience'),
    sift: flag(values, 'sift') || undefined,
    seed: number(values, 'seed'),
    threads: number(values, 'threads'),
    revision: text(values, 'revision'),
    token: text(values, 'token') ?? io.environment.HF_TOKEN,
    offline: flag(values, 'offline') || undefined,
  });
}

function readMethod(values: Values): TeachMethod | undefined {
  const method = choice(values, 'method', kMethods);
  const layers = number(values, 'layers');
  if (layers !== undefined && method !== 'layers') throw new UsageError('--layers goes with --method layers');
  return method === 'layers' ? { layers: layers ?? 2 } : method;
}

async function readValidation(given: string | undefined): Promise<TeachExample[] | number | undefined> {
  if (given === undefined) return undefined;
  const share = Number(given);
  return Number.isNaN(share) ? readExamples(given) : share;
}

async function readExamples(file: string): Promise<TeachExample[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new PeruseError('not_found', `${file} can't be read: ${describeError(error)}`, { cause: error });
  });
  return content.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as TeachExample];
    } catch (error) {
      const wanted = 'Each line must be an object such as {"text": "...", "label": "..."}.';
      throw new PeruseError('invalid_argument', `${file}, line ${index + 1} is not JSON. ${wanted}`, { cause: error });
    }
  });
}
