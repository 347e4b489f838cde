import type { ProgressInfo } from '../progress.js';
import type { TeachProgress } from '../teach/index_node.js';
import { type Io, jsonLine, printable } from './io.js';

const kBarWidth = 24;

export class ProgressBar {
  private readonly files_ = new Map<string, { loaded: number; total: number }>();

  constructor(private readonly io_: Io) {}

  show(progress: ProgressInfo): void {
    if (progress.status !== 'progress') return;
    this.files_.set(progress.file, progress);
    let loaded = 0;
    let total = 0;
    for (const file of this.files_.values()) {
      loaded += file.loaded;
      total += Math.max(file.total, file.loaded);
    }
    const done = total === 0 ? 0 : Math.floor((loaded / total) * kBarWidth);
    const bar = '#'.repeat(done).padEnd(kBarWidth, '.');
    const line = `[${bar}] ${megabytes(loaded)} of ${megabytes(total)} MB  ${printable(progress.file)}`;
    this.io_.err(`\r\x1b[K${line.slice(0, this.io_.columns - 1)}`);
  }

  clear(): void {
    this.io_.err('\r\x1b[K');
  }
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

// Progress of rows: a line that is rewritten on a terminal, lines of JSON elsewhere.

const kBetweenLines = 5000; // in milliseconds
const kBetweenUpdates = 200;

export class BatchProgress {
  private readonly start_ = performance.now();
  private shown_ = this.start_;
  private readSkipped_: number | undefined; // bytes of the input that an earlier run has processed
  rows: number;
  /** Bytes of the input up to the last row that was read. */
  read = 0;

  constructor(
    private readonly io_: Io,
    private readonly bytes_: number | undefined,
    private readonly before_: number,
  ) {
    this.rows = before_;
  }

  get seconds(): number {
    return Math.round(performance.now() - this.start_) / 1000;
  }

  add(rows: number, errors: number): void {
    this.readSkipped_ ??= (this.read * this.before_) / (this.before_ + rows);
    this.rows += rows;
    const now = performance.now();
    if (now - this.shown_ < (this.io_.errIsTty ? kBetweenUpdates : kBetweenLines)) return;
    this.shown_ = now;
    const rate = (this.rows - this.before_) / this.seconds;
    const left = this.secondsLeft();
    if (!this.io_.errIsTty) {
      this.io_.err(
        `${jsonLine({ rows: this.rows, errors, rows_per_second: round(rate), ...(left === undefined ? {} : { seconds_left: left }) })}\n`,
      );
      return;
    }
    const rest = left === undefined ? '' : `, ${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')} left`;
    this.io_.err(`\r\u001b[K${this.rows} rows, ${errors} errors, ${round(rate)} rows/s${rest}`.slice(0, this.io_.columns + 3));
  }

  private secondsLeft(): number | undefined {
    const read = this.read - (this.readSkipped_ ?? 0);
    if (this.bytes_ === undefined || read <= 0) return undefined;
    return Math.round((this.seconds * (this.bytes_ - this.read)) / read);
  }

  clear(): void {
    if (this.io_.errIsTty) this.io_.err('\r\u001b[K');
  }
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** Shows a bar while loading and a line for each epoch; on a terminal also each step. */
export class LessonProgress {
  private readonly bar_: ProgressBar | undefined;
  private last_: TeachProgress | undefined;

  constructor(private readonly io_: Io) {
    this.bar_ = io_.errIsTty ? new ProgressBar(io_) : undefined;
  }

  tell(progress: TeachProgress): void {
    const { phase, step, steps, epoch, load } = progress;
    if (load !== undefined) {
      this.bar_?.show(load);
      return;
    }
    if (epoch !== this.last_?.epoch) this.endEpoch();
    if (phase !== 'features') this.last_ = progress;
    this.bar_?.clear();
    if (this.bar_) this.io_.err(`${phase}: step ${step} of ${steps}${lossOf(progress)}`);
  }

  clear(): void {
    this.endEpoch();
    this.bar_?.clear();
  }

  private endEpoch(): void {
    if (this.last_ === undefined) return;
    const { epoch, epochs, step, steps, validation } = this.last_;
    this.bar_?.clear();
    this.io_.err(`epoch ${epoch} of ${epochs}: step ${step} of ${steps}${lossOf(this.last_)}${measured(validation)}\n`);
    this.last_ = undefined;
  }
}

function lossOf({ loss }: TeachProgress): string {
  return loss === null ? '' : `, loss ${loss.toFixed(4)}`;
}

function measured(validation: TeachProgress['validation']): string {
  if (validation === undefined) return '';
  const { loss, accuracy, f1, mean_squared_error: error } = validation;
  const figures = { loss, accuracy, f1, 'mean squared error': error };
  const told = Object.entries(figures).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value.toFixed(4)}`]));
  return `; held out: ${told.join(', ')}`;
}
