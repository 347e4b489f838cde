// Progress of loading, in the words of transformers.js.

export interface FileProgress {
  status: 'initiate' | 'download' | 'done';
  /** The model, as the caller named it. */
  name: string;
  file: string;
}

export interface BytesProgress {
  status: 'progress';
  name: string;
  file: string;
  /** Per cent of `total`; 0 while the total is unknown. */
  progress: number;
  loaded: number;
  /** Bytes of the file; 0 if the server does not say. */
  total: number;
}

export interface ReadyProgress {
  status: 'ready';
  task: string;
  model: string;
}

export type ProgressInfo = FileProgress | BytesProgress | ReadyProgress;
export type ProgressCallback = (progress: ProgressInfo) => void;

const kMillisecondsBetweenReports = 40;

/** Reports one file's bytes: the first and last at once, those between at most 25 times a second. */
export class ByteReporter {
  private loaded_ = 0;
  private reportedAt_ = 0;

  constructor(
    private readonly report_: ProgressCallback,
    private readonly name_: string,
    private readonly file_: string,
    private total_: number,
  ) {}

  start(): void {
    this.report_({ status: 'initiate', name: this.name_, file: this.file_ });
    this.report_({ status: 'download', name: this.name_, file: this.file_ });
  }

  add(bytes: number): void {
    this.loaded_ += bytes;
    // A compressed transfer announces its compressed length; the bytes that arrive are more.
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
    const progress = this.total_ > 0 ? (this.loaded_ / this.total_) * 100 : 0;
    const { name_: name, file_: file, loaded_: loaded, total_: total } = this;
    this.report_({ status: 'progress', name, file, progress, loaded, total });
  }
}
