import type { TeachProgress } from '../teach/index_node.js';
import type { Io } from './io.js';
import { ProgressBar } from './progress_bar.js';

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
