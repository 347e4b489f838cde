import type { ProgressInfo } from '../progress.js';
import type { Io } from './io.js';
import { printable } from './printable.js';

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

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
