// Progress of rows: a line that is rewritten on a terminal, lines of JSON elsewhere.
import type { Io } from '../io.js';
import { jsonLine } from '../printable.js';

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
