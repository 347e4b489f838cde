// The file of results: one record for each row, in order. A second run continues after the last complete record.
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { notWritten, writeWhole } from '../../cache/write_file_node.js';
import { PeruseError, type PlainError } from '../../errors.js';
import { UsageError } from '../command.js';
import { csvLine, type RecordFormat, RowParser, recordsOf } from './records.js';

export interface RowResult {
  row: number;
  input: Record<string, unknown>;
  result?: unknown;
  error?: PlainError;
}

export interface ResultSink {
  /** Rows that an earlier run has written, and those of them with an error. */
  readonly written: number;
  readonly errors: number;
  write(results: readonly RowResult[]): Promise<void>;
  close(isComplete: boolean): Promise<void>;
}

export class ResultFormat {
  private columns_: string[] | undefined;

  /** `resultColumns`: names of the columns that a result becomes in CSV. */
  constructor(
    readonly format: RecordFormat,
    private readonly resultColumns_: readonly string[],
  ) {}

  lines(results: readonly RowResult[], isFirst: boolean): string {
    if (this.format === 'jsonl') return results.map((one) => `${JSON.stringify(one)}\n`).join('');
    if (this.columns_ === undefined) {
      this.columns_ = Object.keys(results[0]?.input ?? {});
      const clash = this.columns_.find((name) => name === 'error' || this.resultColumns_.includes(name));
      if (clash !== undefined) throw new PeruseError('invalid_argument', `The rows have a column '${clash}', which is one of the results.`);
    }
    const header = isFirst ? csvLine([...this.columns_, ...this.resultColumns_, 'error'], this.format) : '';
    return header + results.map((one) => csvLine(this.fields(one), this.format)).join('');
  }

  private fields({ input, result, error }: RowResult): string[] {
    const own = (this.columns_ ?? []).map((name) => fieldOf(input[name]));
    const isOne = this.resultColumns_.length === 1;
    const parts = (isOne ? { [this.resultColumns_[0]!]: result } : (result ?? {})) as Record<string, unknown>;
    return [
      ...own,
      ...this.resultColumns_.map((name) => fieldOf(parts[name])),
      error === undefined ? '' : `${error.code}: ${error.message}`,
    ];
  }
}

function fieldOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function streamSink(write: (text: string) => Promise<void>, format: ResultFormat): ResultSink {
  let isFirst = true;
  return {
    written: 0,
    errors: 0,
    async write(results) {
      if (results.length > 0) await write(format.lines(results, isFirst));
      isFirst = false;
    },
    close: async () => {},
  };
}

/** Writes results to a file. `job` describes the command: a file that another command has begun is not continued. */
export async function fileSink(path: string, job: object, format: ResultFormat, overwrite: boolean): Promise<ResultSink> {
  const note = `${path}.job.json`;
  const described = JSON.stringify(job);
  if (overwrite) await rm(path, { force: true });
  else await checkJob(path, note, described);
  await writeWhole(dirname(note), basename(note), described).catch((error: unknown) => {
    throw notWritten('Results', path, error);
  });
  const before = await scanned(path, format.format);
  const file = await open(path, before.bytes === undefined ? 'w' : 'r+');
  if (before.bytes !== undefined) await file.truncate(before.bytes);
  return new FileSink(file, path, note, format, before);
}

async function checkJob(path: string, note: string, described: string): Promise<void> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (!exists) return;
  const known = await readFile(note, 'utf8').catch(() => undefined);
  if (known === described) return;
  const why = known === undefined ? 'exists' : 'was begun by another command';
  throw new UsageError(`'${path}' ${why}; --overwrite replaces it`);
}

interface Scan {
  /** Length of the complete records; undefined if there is no file. */
  bytes: number | undefined;
  rows: number;
  errors: number;
  hasHeader: boolean;
}

async function scanned(path: string, format: RecordFormat): Promise<Scan> {
  const scan: Scan = { bytes: undefined, rows: 0, errors: 0, hasHeader: false };
  if ((await stat(path).catch(() => undefined)) === undefined) return scan;
  scan.bytes = 0;
  const parser = new RowParser(format);
  for await (const record of recordsOf(createReadStream(path), format)) {
    if (!record.complete) break;
    const row = parser.parse(record);
    scan.bytes = record.end;
    scan.hasHeader = true;
    if (row === undefined) continue;
    const { error, row: number } = ('values' in row ? row.values : {}) as { error?: unknown; row?: unknown };
    if (format === 'jsonl' && number !== scan.rows)
      throw new PeruseError('malformed_file', `Record ${scan.rows} of ${path} is not a result.`);
    scan.rows += 1;
    if (error !== undefined && error !== '') scan.errors += 1;
  }
  return scan;
}

class FileSink implements ResultSink {
  readonly written: number;
  readonly errors: number;
  private at_: number;
  private isFirst_: boolean;

  constructor(
    private readonly file_: FileHandle,
    private readonly path_: string,
    private readonly note_: string,
    private readonly format_: ResultFormat,
    { bytes = 0, rows, errors, hasHeader }: Scan,
  ) {
    this.at_ = bytes;
    this.written = rows;
    this.errors = errors;
    this.isFirst_ = !hasHeader;
  }

  async write(results: readonly RowResult[]): Promise<void> {
    if (results.length === 0) return;
    const bytes = Buffer.from(this.format_.lines(results, this.isFirst_));
    this.isFirst_ = false;
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.file_.write(bytes, done, bytes.length - done, this.at_);
        done += bytesWritten;
        this.at_ += bytesWritten;
      }
    } catch (error) {
      throw notWritten('Results', this.path_, error, 'the same command goes on after the last complete result');
    }
  }

  async close(isComplete: boolean): Promise<void> {
    await this.file_.close();
    if (isComplete) await rm(this.note_, { force: true });
  }
}
