import { createReadStream } from 'node:fs';
import { describeError, PeruseError } from '../errors.js';
import { formatOf, type Row, RowParser, recordsOf } from './batch/records.js';
import { type Command, needed, text, UsageError } from './command.js';
import { jsonLine } from './io.js';

export const evaluate: Command = {
  summary: 'Compare results of --in and --out with a column of right answers',
  usage: '<results> --gold label',
  details:
    'Labels: accuracy, and precision, recall and F1 by label. Answers: exact match and F1 of words, as SQuAD counts them.\n' +
    'Entities: precision, recall and F1 of spans; the column holds a list of { label, start, end }. Errors count as wrong.',
  options: {
    gold: { type: 'string', value: 'name', help: 'the column of right answers (required)' },
  },
  async run(positionals, values, io) {
    const [file, ...rest] = needed(positionals, ['results']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    const gold = text(values, 'gold');
    if (gold === undefined) throw new UsageError('--gold is missing: the column of right answers');
    const measures = new Measures();
    for await (const row of rowsOf(file)) measures.add(row, gold);
    io.out(jsonLine(measures.report()));
  },
};

async function* rowsOf(file: string): AsyncGenerator<Row, void, undefined> {
  const format = formatOf(file);
  const parser = new RowParser(format);
  const bytes = createReadStream(file);
  try {
    for await (const record of recordsOf(bytes, format)) {
      const row = parser.parse(record);
      if (row !== undefined) yield row;
    }
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('not_found', `${file} can't be read: ${describeError(error)}`, { cause: error });
  }
}

interface Counts {
  right: number;
  found: number;
  gold: number;
}

interface Span {
  label: string;
  start: number;
  end: number;
}

class Measures {
  private rows_ = 0;
  private errors_ = 0;
  private exact_ = 0; // number of labels or answers that are equal
  private words_ = 0; // sum of the answers' F1
  private kind_: 'labels' | 'answers' | 'entities' | undefined;
  private readonly counts_ = new Map<string, Counts>(); // counts by label

  add(row: Row, column: string): void {
    const index = this.rows_++;
    if ('error' in row) throw row.error;
    const { input, result, error } = partsOf(row.values);
    const gold = parsed(input[column]);
    if (gold === undefined) throw new PeruseError('invalid_argument', `Row ${index} has no column '${column}'.`);
    if (error !== undefined) this.errors_ += 1;
    const kind = Array.isArray(gold) ? 'entities' : result !== undefined && 'answer' in result ? 'answers' : 'labels';
    if (error === undefined) this.kind_ ??= kind;
    if (Array.isArray(gold)) this.addSpans((result?.entities as Span[] | undefined) ?? [], gold as Span[]);
    else if (kind === 'answers') this.addAnswer(String(result?.answer ?? ''), String(gold));
    else this.addLabel(result?.label === undefined ? undefined : String(result.label), String(gold));
  }

  private addLabel(found: string | undefined, gold: string): void {
    if (found === gold) this.exact_ += 1;
    if (found !== undefined) this.of(found).found += 1;
    this.of(gold).gold += 1;
    if (found === gold) this.of(gold).right += 1;
  }

  private addAnswer(found: string, gold: string): void {
    const [given, wanted] = [squadWords(found), squadWords(gold)];
    if (given.join(' ') === wanted.join(' ')) this.exact_ += 1;
    if (given.length === 0 || wanted.length === 0) {
      this.words_ += given.length === wanted.length ? 1 : 0;
      return;
    }
    const left = [...wanted];
    const shared = given.filter((word) => left.includes(word) && left.splice(left.indexOf(word), 1)).length;
    this.words_ += (2 * shared) / (given.length + wanted.length);
  }

  private addSpans(found: readonly Span[], gold: readonly Span[]): void {
    const key = ({ label, start, end }: Span) => `${start} ${end} ${label}`;
    const left = new Set(gold.map(key));
    for (const span of gold) this.of(span.label).gold += 1;
    for (const span of found) {
      const own = { ...span, label: span.label ?? (span as unknown as { entity_group?: string }).entity_group ?? '' };
      this.of(own.label).found += 1;
      if (left.delete(key(own))) this.of(own.label).right += 1;
    }
  }

  private of(label: string): Counts {
    const known = this.counts_.get(label);
    if (known !== undefined) return known;
    const made = { right: 0, found: 0, gold: 0 };
    this.counts_.set(label, made);
    return made;
  }

  report(): Record<string, unknown> {
    const { rows_: rows, errors_: errors } = this;
    const share = (value: number) => rounded(rows === 0 ? 0 : value / rows);
    if (this.kind_ === 'answers') return { rows, errors, exact_match: share(this.exact_), f1: share(this.words_) };
    const labels = Object.fromEntries(
      [...this.counts_].sort(([a], [b]) => (a < b ? -1 : 1)).map(([label, counts]) => [label, scores(counts)]),
    );
    if (this.kind_ !== 'entities') return { rows, errors, accuracy: share(this.exact_), labels };
    const all = { right: 0, found: 0, gold: 0 };
    for (const counts of this.counts_.values()) for (const name of ['right', 'found', 'gold'] as const) all[name] += counts[name];
    return { rows, errors, ...scores(all), labels };
  }
}

/** Splits a row of --out's file into input and result. In CSV, the members of a result are columns. */
function partsOf(values: Record<string, unknown>): { input: Record<string, unknown>; result?: Record<string, unknown>; error?: unknown } {
  const { input, result, error } = values;
  if (typeof input !== 'object' || input === null) {
    const entities = parsed(values.entities);
    return {
      input: values,
      result: { ...values, ...(Array.isArray(entities) ? { entities } : {}) },
      ...(error === undefined || error === '' ? {} : { error }),
    };
  }
  const own = Array.isArray(result) ? { entities: result } : (result as Record<string, unknown> | undefined);
  const labels = own?.labels;
  const first = Array.isArray(labels) ? { label: (labels[0] as { label?: string }).label ?? labels[0] } : {};
  return {
    input: input as Record<string, unknown>,
    ...(own === undefined ? {} : { result: { ...own, ...first } }),
    ...(error === undefined ? {} : { error }),
  };
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\[/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Normalises an answer like SQuAD's evaluation script: lower case, without punctuation and English articles. */
function squadWords(answer: string): string[] {
  const folded = answer.toLowerCase().replace(/[!-/:-@[-`{-~]/g, '');
  return folded
    .replace(/\b(a|an|the)\b/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function scores({ right, found, gold }: Counts): { precision: number; recall: number; f1: number; count: number } {
  const ratio = (value: number, of: number) => rounded(of === 0 ? 0 : value / of);
  return { precision: ratio(right, found), recall: ratio(right, gold), f1: ratio(2 * right, found + gold), count: gold };
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}
