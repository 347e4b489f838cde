// Runs a command over the rows of a file: batches in parallel, results in order, errors by row.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { PeruseError, toPlainError } from '../../errors.js';
import type { Pipeline } from '../../pipeline.js';
import { type RunBatch, settled } from '../../tasks/stream.js';
import type { ResolvedTask, TaskOrAlias } from '../../tasks/tasks.js';
import { flag, number, type Options, RowErrors, text, UsageError, type Values } from '../command.js';
import { type Io, jsonLine } from '../io.js';
import { loadModel, textBatches, withModel } from '../model_options.js';
import { BatchProgress } from '../progress_bar.js';
import { formatOf, type Row, RowParser, recordsOf } from './records.js';
import { fileSink, ResultFormat, type RowResult, streamSink } from './results_file.js';

export const kBatchOptions: Options = {
  in: { type: 'string', value: 'file', help: "read rows from this file (.jsonl, .csv, .tsv), or from standard input ('-')" },
  out: {
    type: 'string',
    value: 'file',
    help: "write results to this file, and resume it in a second run; or to standard output ('-')",
  },
  column: { type: 'string', value: 'name', help: 'with --in: the column with the text (text)' },
  workers: { type: 'string', value: 'n', help: 'with --in: number of workers, each with a copy of the model (number of cores)' },
  'batch-size': { type: 'string', value: 'n', help: 'with --in: number of rows in one computation (16)' },
  overwrite: { type: 'boolean', help: 'with --out: replace the file instead of resuming' },
};

export interface RowCommand<T extends TaskOrAlias, I> {
  name: string;
  task: T;
  model: string;
  /** Loads what `run` needs, instead of a pipeline for the task. */
  load?(): Promise<Pipeline<ResolvedTask<T>>>;
  /** Returns the input in a row. Throws 'invalid_argument' if the row lacks it. */
  inputOf(row: Record<string, unknown>): I;
  run(loaded: Pipeline<ResolvedTask<T>>, inputs: readonly I[]): Promise<readonly unknown[]>;
  /** Names of the members of a result that become columns of CSV; one name means the whole result. */
  columns: readonly string[];
  settings?: object;
}

const kBatchSize = 16;

/** Whether the options name rows to read. Texts must then not be given as arguments. */
export function readsRows(values: Values, texts: readonly string[]): boolean {
  if (text(values, 'in') !== undefined) {
    if (texts.length > 0) throw new UsageError(`--in reads the texts; '${texts[0]}' is one too many`);
    return true;
  }
  const name = Object.keys(kBatchOptions).find((one) => values[one] !== undefined);
  if (name !== undefined) throw new UsageError(`--${name} goes with --in`);
  return false;
}

export function textColumn(row: Record<string, unknown>, name: string): string {
  const value = row[name];
  if (typeof value === 'string') return value;
  const names = Object.keys(row).join(', ') || 'none';
  throw new PeruseError(
    'invalid_argument',
    value === undefined ? `The row has no column '${name}'; it has ${names}.` : `Column '${name}' must be a text.`,
  );
}

export interface TextCommand<T extends TaskOrAlias, I> extends RowCommand<T, I | string> {
  texts: readonly string[];
  /** Returns the line to print for a text that is not in a file of rows. */
  lineOf(input: string, result: unknown): object;
}

/** Runs a command over the rows of a file or, without --in, over texts: the arguments, or the lines of standard input. */
export async function runTexts<T extends TaskOrAlias, I = string>(command: TextCommand<T, I>, values: Values, io: Io): Promise<void> {
  const { task, model, texts, run, lineOf, settings } = command;
  if (readsRows(values, texts)) return runRows(command, values, io);
  const print = async (loaded: Pipeline<ResolvedTask<T>>) => {
    for await (const batch of textBatches(texts, io)) {
      const results = await run(loaded, batch);
      results.forEach((result, index) => {
        io.out(jsonLine(lineOf(batch[index]!, result)));
      });
    }
  };
  return withModel(task, model, values, io, print, settings);
}

/** Throws RowErrors if a row failed. */
export async function runRows<T extends TaskOrAlias, I>(command: RowCommand<T, I>, values: Values, io: Io): Promise<void> {
  const input = text(values, 'in')!;
  const output = text(values, 'out') ?? '-';
  const size = countOf(values, 'batch-size') ?? kBatchSize;
  const workers = countOf(values, 'workers') ?? availableParallelism();
  const format = new ResultFormat(output === '-' ? formatOf(input) : formatOf(output), command.columns);
  const job = { command: command.name, model: command.model, input, options: jobOptions(values) };
  const sink =
    output === '-' ? streamSink((lines) => io.write(lines), format) : await fileSink(output, job, format, flag(values, 'overwrite'));
  const bytes = input === '-' ? undefined : (await stat(input).catch(notReadable(input))).size;
  const pool = await loadAll(command, values, io, workers);
  const progress = new BatchProgress(io, bytes, sink.written);
  let isComplete = false;
  let errors = sink.errors;
  try {
    const source = rowsOf(input === '-' ? io.bytes() : createReadStream(input), formatOf(input), progress);
    for await (const results of resultsOf(command, pool, inBatches(source, sink.written, size))) {
      await sink.write(results);
      errors += results.filter(({ error }) => error !== undefined).length;
      progress.add(results.length, errors);
    }
    isComplete = true;
  } finally {
    progress.clear();
    await sink.close(isComplete);
    await Promise.all(pool.map((one) => one.dispose()));
  }
  const summary = jsonLine({ rows: progress.rows, errors, resumed: sink.written, seconds: progress.seconds });
  if (output === '-') io.err(`${summary}\n`);
  else io.out(summary);
  if (errors > 0) throw new RowErrors(errors, progress.rows);
}

function notReadable(path: string): (error: Error) => never {
  return (error) => {
    throw new PeruseError('not_found', `${path} can't be read: ${error.message}`, { cause: error });
  };
}

function jobOptions(values: Values): Values {
  const others = ['in', 'out', 'workers', 'batch-size', 'overwrite', 'token', 'debug', 'no-cache', 'threads', 'offline'];
  return Object.fromEntries(Object.entries(values).filter(([name]) => !others.includes(name)));
}

function countOf(values: Values, name: string): number | undefined {
  const count = number(values, name);
  if (count === undefined || (Number.isSafeInteger(count) && count >= 1)) return count;
  throw new UsageError(`--${name} takes a whole number from 1 on, not '${count}'`);
}

/** Loads one pipeline with an engine of its own for each worker. The first one downloads the files, which the others then find in the cache. */
async function loadAll<T extends TaskOrAlias, I>(
  { task, model, settings, load }: RowCommand<T, I>,
  values: Values,
  io: Io,
  workers: number,
) {
  const alone = workers === 1 ? {} : { worker: true, threads: 1 };
  const pool: Pipeline<ResolvedTask<T>>[] = [];
  try {
    for (let i = 0; i < workers; ++i) pool.push(await (load?.() ?? loadModel(task, model, values, io, { ...settings, ...alone }, i)));
  } catch (error) {
    await Promise.all(pool.map((one) => one.dispose()));
    throw error;
  }
  return pool;
}

async function* rowsOf(bytes: AsyncIterable<Uint8Array>, format: ReturnType<typeof formatOf>, progress: BatchProgress) {
  const parser = new RowParser(format);
  for await (const record of recordsOf(bytes, format)) {
    progress.read = record.end;
    const row = parser.parse(record);
    if (row !== undefined) yield row;
  }
}

/** Yields batches of rows with their numbers, without the rows that an earlier run has written. */
async function* inBatches(rows: AsyncIterable<Row>, skip: number, size: number) {
  let row = 0;
  let batch: { row: number; given: Row }[] = [];
  for await (const given of rows) {
    if (row++ < skip) continue;
    batch.push({ row: row - 1, given });
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Yields results in the order of the rows. Reads ahead as many batches as keep all workers busy. */
async function* resultsOf<T extends TaskOrAlias, I>(
  command: RowCommand<T, I>,
  pool: readonly Pipeline<ResolvedTask<T>>[],
  batches: AsyncIterable<{ row: number; given: Row }[]>,
): AsyncGenerator<RowResult[], void, undefined> {
  const running: Promise<RowResult[]>[] = [];
  let next = 0;
  for await (const batch of batches) {
    const result = resultsOfBatch(command, pool[next++ % pool.length]!, batch);
    result.catch(() => {}); // The loop awaits it, unless the caller stops before.
    running.push(result);
    if (running.length >= 2 * pool.length) yield await running.shift()!;
  }
  while (running.length > 0) yield await running.shift()!;
}

async function resultsOfBatch<T extends TaskOrAlias, I>(
  { inputOf, run }: RowCommand<T, I>,
  loaded: Pipeline<ResolvedTask<T>>,
  batch: readonly { row: number; given: Row }[],
): Promise<RowResult[]> {
  const results = batch.map(({ row, given }): RowResult => {
    return 'error' in given ? { row, input: {}, error: toPlainError(given.error) } : { row, input: given.values };
  });
  const inputs: { place: number; input: I }[] = [];
  for (const [place, result] of results.entries()) {
    if (result.error !== undefined) continue;
    try {
      inputs.push({ place, input: inputOf(result.input) });
    } catch (error) {
      if (!(error instanceof PeruseError)) throw error;
      result.error = toPlainError(error);
    }
  }
  if (inputs.length === 0) return results;
  const runPart: RunBatch<(typeof inputs)[number], unknown> = (part) =>
    run(
      loaded,
      part.map(({ input }) => input),
    );
  const outcomes = await settled({ first: 0, batch: inputs }, runPart, new AbortController().signal);
  for (const outcome of outcomes) {
    const result = results[outcome.input.place]!;
    if ('error' in outcome) result.error = toPlainError(outcome.error);
    else result.result = outcome.result;
  }
  return results;
}
