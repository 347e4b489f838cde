import { PeruseError } from '../../errors.js';

export type RecordFormat = 'jsonl' | 'csv' | 'tsv';

/** Determines the format by the name's extension; JSON lines if the extension is unknown. */
export function formatOf(path: string): RecordFormat {
  const extension = /\.(csv|tsv)$/i.exec(path)?.[1]?.toLowerCase();
  return (extension as RecordFormat | undefined) ?? 'jsonl';
}

export interface RawRecord {
  text: string;
  /** The line on which it begins, from 1. */
  line: number;
  /** Bytes of the file up to the end of the record. */
  end: number;
  /** Whether a line end follows. */
  complete: boolean;
}

const kLongestRecord = 64 << 20; // bytes
const kNewline = 10;
const kQuote = 34;

/** Yields the records of a stream of bytes without empty lines. In CSV a line end within quotes belongs to the record. */
export async function* recordsOf(bytes: AsyncIterable<Uint8Array>, format: RecordFormat): AsyncGenerator<RawRecord, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let end = 0;
  let number = 1;
  let line = 1;
  let lines = 0; // within the record
  let quoted = false;
  const take = (complete: boolean): RawRecord | undefined => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: number > 1 });
    const text = decoder.decode(Buffer.concat(parts)).replace(/\r?\n?$/, '');
    parts = [];
    length = 0;
    number += 1;
    const begins = line;
    line += lines;
    lines = 0;
    return text === '' ? undefined : { text, line: begins, end, complete };
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let at = 0; at < chunk.length; ++at) {
      if (format !== 'jsonl' && chunk[at] === kQuote) quoted = !quoted;
      if (chunk[at] !== kNewline) continue;
      lines += 1;
      if (quoted) continue;
      parts.push(chunk.subarray(from, at + 1));
      end += at + 1 - from;
      from = at + 1;
      const record = take(true);
      if (record !== undefined) yield record;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.slice(from));
    length += chunk.length - from;
    end += chunk.length - from;
    if (length > kLongestRecord) throw new PeruseError('invalid_argument', `Record ${number} has more than ${kLongestRecord} bytes.`);
  }
  const last = parts.length > 0 ? take(false) : undefined;
  if (last !== undefined) yield last;
}

/** The fields of a record of CSV (RFC 4180). */
export function csvFields(record: string, format: RecordFormat): string[] {
  const separator = format === 'tsv' ? '\t' : ',';
  const fields: string[] = [];
  for (let at = 0; ; ) {
    let field = '';
    if (record[at] === '"') {
      let close = record.indexOf('"', at + 1);
      while (close >= 0 && record[close + 1] === '"') close = record.indexOf('"', close + 2);
      if (close < 0) throw new PeruseError('invalid_argument', 'A quote is not closed.');
      field = record.slice(at + 1, close).replaceAll('""', '"');
      at = close + 1;
      if (at < record.length && record[at] !== separator) throw new PeruseError('invalid_argument', 'There is text after a closing quote.');
    } else {
      const next = record.indexOf(separator, at);
      field = next < 0 ? record.slice(at) : record.slice(at, next);
      at = next < 0 ? record.length : next;
    }
    fields.push(field);
    if (at >= record.length) return fields;
    at += 1;
  }
}

export function csvLine(fields: readonly string[], format: RecordFormat): string {
  const needsQuotes = format === 'tsv' ? /["\t\n\r]/ : /[",\n\r]/;
  const written = fields.map((field) => (needsQuotes.test(field) ? `"${field.replaceAll('"', '""')}"` : field));
  return `${written.join(format === 'tsv' ? '\t' : ',')}\n`;
}

/** A row of a table by column, or why it can't be read. */
export type Row = { values: Record<string, unknown> } | { error: PeruseError };

/** Turns records into rows; the first record of CSV names the columns. */
export class RowParser {
  columns: string[] | undefined;

  constructor(private readonly format_: RecordFormat) {}

  /** Returns undefined for the record that names the columns. */
  parse({ text }: RawRecord): Row | undefined {
    try {
      if (this.format_ === 'jsonl') return { values: objectOf(text) };
      const fields = csvFields(text, this.format_);
      if (this.columns === undefined) {
        this.columns = fields;
        return undefined;
      }
      if (fields.length !== this.columns.length) {
        throw new PeruseError('invalid_argument', `The row has ${fields.length} fields, and the first ${this.columns.length}.`);
      }
      return { values: Object.fromEntries(this.columns.map((name, place) => [name, fields[place]])) };
    } catch (error) {
      if (error instanceof PeruseError && this.columns !== undefined) return { error };
      if (error instanceof PeruseError && this.format_ === 'jsonl') return { error };
      throw error;
    }
  }
}

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PeruseError('invalid_argument', `The line is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new PeruseError('invalid_argument', 'The line is not a JSON object.');
}
