// Progress of loading, in transformers.js's format.

/** A file is requested ('initiate'), begins ('download') or is complete ('done'). */
export interface FileProgress {
  status: 'initiate' | 'download' | 'done';
  /** The model, as the caller named it. */
  name: string;
  file: string;
}

/** Bytes of a file have arrived. */
export interface BytesProgress {
  status: 'progress';
  name: string;
  file: string;
  /** Per cent of `total`; 0 while the total is unknown. */
  progress: number;
  loaded: number;
  /** Size of the file in bytes; 0 if the server does not report it. */
  total: number;
  /** Progress of all files together; it never decreases. The total is known once the weights, nearly all of it, have begun. */
  overall: Bytes;
}

/** Progress in bytes. */
export interface Bytes {
  progress: number;
  loaded: number;
  total: number;
}

/** Progress of all files together, before each 'progress'. */
export interface TotalProgress extends Bytes {
  status: 'progress_total';
  name: string;
  /** Bytes of each file. */
  files: Record<string, { loaded: number; total: number }>;
}

/** The model is ready. */
export interface ReadyProgress {
  status: 'ready';
  task: string;
  model: string;
}

/** A report of loading. */
export type ProgressInfo = FileProgress | BytesProgress | TotalProgress | ReadyProgress;
/** Receives reports of loading. */
export type ProgressCallback = (progress: ProgressInfo) => void;

const kMillisecondsBetweenReports = 40;

const bytesOf = (loaded: number, total: number): Bytes => ({ progress: total > 0 ? (loaded / total) * 100 : 0, loaded, total });

/**
 * Adds up the files of one load. The total is unknown until the weights have begun: one of the `last` files, or an ONNX file that is larger than all
 * others together.
 */
export class Totals {
  private readonly files_ = new Map<string, { loaded: number; total: number }>();
  private most_ = 0; // percent reported so far

  constructor(private readonly last_?: readonly string[]) {}

  with(file: string, loaded: number, total: number): Bytes {
    this.files_.set(file, { loaded, total });
    const files = [...this.files_.values()];
    const all = files.reduce((sum, one) => sum + one.total, 0);
    const isWeights = (name: string, size: number) => this.last_!.includes(name) || (/\.onnx/.test(name) && 2 * size > all);
    const known = !this.last_ || [...this.files_].some(([name, one]) => one.total > 0 && isWeights(name, one.total));
    const bytes = bytesOf(
      files.reduce((sum, one) => sum + one.loaded, 0),
      known ? all : 0,
    );
    this.most_ = Math.max(this.most_, bytes.progress); // never decreases, even if a server reported a wrong size
    return { ...bytes, progress: this.most_ };
  }
}

/** Reports one file's bytes: the first and last immediately, others at most 25 times per second. */
export class ByteReporter {
  private loaded_ = 0;
  private reportedAt_ = 0;

  constructor(
    private readonly report_: ProgressCallback,
    private readonly name_: string,
    private readonly file_: string,
    private total_: number,
    private readonly totals_: Totals,
  ) {}

  start(): void {
    this.totals_.with(this.file_, 0, this.total_);
    this.report_({ status: 'initiate', name: this.name_, file: this.file_ });
    this.report_({ status: 'download', name: this.name_, file: this.file_ });
  }

  add(bytes: number): void {
    this.loaded_ += bytes;
    // A server may report the compressed size, which is less than the bytes that arrive.
    if (this.total_ > 0 && this.loaded_ > this.total_) this.total_ = this.loaded_;
    const now = Date.now();
    if (now - this.reportedAt_ < kMillisecondsBetweenReports) return;
    this.reportedAt_ = now;
    this.reportBytes();
  }

  finish(): void {
    this.total_ = this.loaded_;
    this.reportBytes();
    this.report_({ status: 'done', name: this.name_, file: this.file_ });
  }

  private reportBytes(): void {
    const { name_: name, file_: file, loaded_: loaded, total_: total } = this;
    this.report_({ status: 'progress', name, file, ...bytesOf(loaded, total), overall: this.totals_.with(file, loaded, total) });
  }
}

/** Returns a callback that passes reports on, and adds the totals. */
export function withTotals(report: ProgressCallback): ProgressCallback {
  const files: TotalProgress['files'] = {};
  return (info) => {
    if (info.status === 'progress') {
      files[info.file] = { loaded: info.loaded, total: info.total };
      report({ status: 'progress_total', name: info.name, ...info.overall, files: { ...files } });
    }
    report(info);
  };
}

/** Returns a callback that passes reports on. If files are loaded again, it reports no less than before. */
export function neverBack(report: ProgressCallback): ProgressCallback {
  const known = new Map<string, { loaded: number; total: number; begun: Set<string> }>();
  let overall: Bytes = bytesOf(0, 0);
  return (info) => {
    if (info.status === 'ready' || info.status === 'progress_total') return report(info);
    const key = `${info.name}\n${info.file}`;
    const file = known.get(key) ?? { loaded: 0, total: 0, begun: new Set() };
    known.set(key, file);
    if (info.status !== 'progress') {
      if (info.status !== 'done' && file.begun.has(info.status)) return;
      file.begun.add(info.status);
      return report(info);
    }
    file.loaded = Math.max(file.loaded, info.loaded);
    file.total = Math.max(file.loaded, info.total);
    overall = info.overall.loaded >= overall.loaded ? info.overall : overall;
    report({ ...info, ...bytesOf(file.loaded, info.total > 0 ? file.total : 0), overall });
  };
}
