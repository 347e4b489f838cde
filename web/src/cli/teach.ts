import { createReadStream } from 'node:fs';
import { PeruseError } from '../errors.js';
import { kTeachTasks, type TeachTask } from '../tasks/training.js';
import { type TeachExample, type TeachMethod, teach as teachModel } from '../teach/index_node.js';
import { formatOf, RowParser, recordsOf } from './batch/records.js';
import { type Command, choice, flag, list, needed, number, UsageError, type Values } from './command.js';
import { given } from './task_flags.js';
import { trainingFlags, trainToFolder } from './training.js';

const kMethods = ['head', 'contrast', 'layers', 'lora', 'full'] as const;

export const teach: Command = {
  summary: 'Train a model on examples, and write it to a folder',
  usage: '<task> <model> <examples>',
  details: `Each line of the file (.jsonl) is an example:
  text-classification   {"text", "label"}; the same for zero-shot-classification (GLiClass)
  token-classification  {"text", "entities": [{"start", "end", "label"}]}
  question-answering    {"question", "context", "answer": {"start", "end"}}
A .csv or .tsv file has these names as its first line; cells of entities and answer are JSON.
Prints the measurements as JSON.`,
  options: {
    method: {
      type: 'string',
      value: 'name',
      help: 'head, contrast, layers, lora or full (by default chosen for the model and the examples)',
    },
    layers: { type: 'string', value: 'n', help: 'with --method layers: number of last layers to train (2)' },
    labels: { type: 'string', value: 'a,b,c', help: "the labels in the model's order (the model's own, or those of the examples)" },
    sift: { type: 'boolean', help: 'scale-invariant fine-tuning: more stable, about three times the work' },
    ...trainingFlags('examples'),
  },
  async run(positionals, values, io) {
    const [taskName, model, file, ...rest] = needed(positionals, ['task', 'model', 'examples']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const task = kTeachTasks.find((name) => name === taskName);
    if (task === undefined) throw new UsageError(`<task> is ${kTeachTasks.join(' or ')}, not '${taskName}'`);
    const own = given({ method: readMethod(values), labels: list(values, 'labels'), sift: flag(values, 'sift') || undefined });
    await trainToFolder<TeachExample>(
      {
        models: [model],
        file,
        parse: (name) => parse(task, name),
        train: (examples, options) => teachModel<TeachTask>(task, model, examples, { ...options, ...own }),
      },
      values,
      io,
    );
  },
};

function readMethod(values: Values): TeachMethod | undefined {
  const method = choice(values, 'method', kMethods);
  const layers = number(values, 'layers');
  if (layers !== undefined && method !== 'layers') throw new UsageError('--layers goes with --method layers');
  return method === 'layers' ? { layers: layers ?? 2 } : method;
}

/** Columns of CSV that hold JSON. */
const kJsonColumns = ['entities', 'answer', 'probabilities'];

/** The columns that a table of examples needs. */
const kColumns: Record<TeachTask, readonly string[]> = {
  'text-classification': ['text', 'label'],
  'zero-shot-classification': ['text', 'label'],
  'token-classification': ['text', 'entities'],
  'question-answering': ['question', 'context', 'answer'],
};

/** Returns the examples of a file: rows of CSV or TSV, by its name, or lines of JSON. */
async function parse(task: TeachTask, file: string): Promise<TeachExample[]> {
  const format = formatOf(file);
  const parser = new RowParser(format);
  const examples: TeachExample[] = [];
  for await (const record of recordsOf(createReadStream(file), format)) {
    if (record.text.trim() === '') continue;
    const row = parser.parse(record);
    if (row === undefined) {
      checkColumns(file, parser.columns!, kColumns[task]);
      continue;
    }
    const where = `${file}, line ${record.line}`;
    if ('error' in row) {
      const wanted = format === 'jsonl' ? ' Each line must be an object such as {"text": "...", "label": "..."}.' : '';
      throw new PeruseError('invalid_argument', `${where}: ${row.error.message}${wanted}`, { cause: row.error });
    }
    examples.push((format === 'jsonl' ? row.values : fromCells(row.values as Record<string, string>, where)) as unknown as TeachExample);
  }
  return examples;
}

function checkColumns(file: string, columns: readonly string[], wanted: readonly string[]): void {
  if (columns.includes('probabilities') ? columns.includes('text') : wanted.every((name) => columns.includes(name))) return;
  const message = `The first line of ${file} must name the columns ${wanted.join(', ')}; it is ${columns.join(', ')}.`;
  throw new PeruseError('invalid_argument', message);
}

/** Cells are texts, except lists and ranges, which are JSON. An empty cell other than `text` means that the example lacks the column. */
function fromCells(cells: Record<string, string>, where: string): Record<string, unknown> {
  const given = Object.entries(cells).filter(([name, cell]) => name === 'text' || cell !== '');
  return Object.fromEntries(given.map(([name, cell]) => [name, kJsonColumns.includes(name) ? jsonCell(name, cell, where) : cell]));
}

function jsonCell(name: string, cell: string, where: string): unknown {
  try {
    return JSON.parse(cell);
  } catch (error) {
    throw new PeruseError('invalid_argument', `${where}: ${name} must be JSON.`, { cause: error });
  }
}
