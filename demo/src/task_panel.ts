// What both tabs have in common: a form that asks a model, loading it first; progress, cancelling, failures, timing.
import type { Pipeline } from '../peruse/dist/index.js';
import { find } from './dom.js';
import { describeFailure, isAborted, isEmptyText, isFatal } from './failure.js';
import { bytes, duration } from './format.js';
import { LazyModel, type Bytes, type LoadOptions } from './loading.js';
import { startSettings, type Settings } from './settings.js';

export interface Task<Model, Output> {
  load(settings: Settings, options: LoadOptions): Promise<Model>;
  /** Asks the model about what the form holds now. */
  ask(model: Model): Promise<Output>;
  /** Shows the details of an output and returns its one-line summary, which is read out. `took` is the time, as text. */
  show(output: Output, took: string): (Node | string)[];
}

/** What every pipeline has, whatever its task. */
type AnyModel = Pick<Pipeline, 'info' | 'memory' | 'dispose'>;

export class TaskPanel<Model extends AnyModel, Output> {
  private readonly model_: LazyModel<Model>;
  private readonly submit_: HTMLButtonElement;
  private readonly cancel_: HTMLButtonElement;
  private readonly loading_: HTMLElement;
  private readonly progress_: HTMLProgressElement;
  private readonly bytes_: HTMLElement;
  private readonly headline_: HTMLElement;
  private readonly details_: HTMLElement;
  private readonly error_: HTMLElement;
  private readonly runtime_: HTMLElement;
  private readonly fields_: (HTMLInputElement | HTMLTextAreaElement)[];
  private readonly placeholder_: string;
  private isBusy_ = false;
  private isAskedAgain_ = false;

  constructor(
    panel: HTMLElement,
    demoModel: string,
    private readonly task_: Task<Model, Output>,
  ) {
    const settings = startSettings(panel, demoModel, (changed) => void this.use(changed));
    this.model_ = new LazyModel((current, options) => task_.load(current, options), settings);
    this.submit_ = find(panel, '[type=submit]', HTMLButtonElement);
    this.cancel_ = find(panel, '.cancel', HTMLButtonElement);
    this.loading_ = find(panel, '.loading', HTMLElement);
    this.progress_ = find(panel, 'progress', HTMLProgressElement);
    this.bytes_ = find(panel, '.bytes', HTMLElement);
    this.headline_ = find(panel, '.headline', HTMLElement);
    this.details_ = find(panel, '.details', HTMLElement);
    this.error_ = find(panel, '.error', HTMLElement);
    this.runtime_ = find(panel, '.runtime', HTMLElement);
    this.fields_ = [...panel.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('.field > textarea, .field > input')];

    this.placeholder_ = this.headline_.textContent ?? '';
    const form = find(panel, 'form', HTMLFormElement);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.run();
    });
    find(form, 'textarea', HTMLTextAreaElement).addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    this.cancel_.addEventListener('click', () => {
      this.model_.cancel();
      this.submit_.focus();  // The button that had the focus is about to go.
    });
  }

  private async use(settings: Settings): Promise<void> {
    await this.model_.use(settings);
    this.clearFailure();
    this.details_.hidden = true;
    this.headline_.textContent = this.placeholder_;
    this.runtime_.textContent = 'The model is read when you next use it.';
  }

  /** Answers what the form holds. If the form is sent again meanwhile, answers once more what it holds by then. */
  async run(): Promise<void> {
    this.isAskedAgain_ = true;
    if (this.isBusy_) return;
    this.setBusy(true);
    try {
      while (this.isAskedAgain_) await this.runOnce();
    } finally {
      this.setBusy(false);
    }
  }

  private async runOnce(): Promise<void> {
    this.clearFailure();
    try {
      const model = await this.load();
      this.isAskedAgain_ = false;
      const start = performance.now();
      const output = await this.task_.ask(model);
      const took = duration(performance.now() - start);
      this.headline_.replaceChildren(...this.task_.show(output, took));
      this.details_.hidden = false;
    } catch (error) {
      this.isAskedAgain_ = false;
      this.showFailure(error);
    }
  }

  private async load(): Promise<Model> {
    if (this.model_.isLoaded) return this.model_.get(() => {});
    this.details_.hidden = true;
    this.headline_.textContent = 'Loading the model\u2026';
    this.runtime_.textContent = '';
    this.showBytes({ loaded: 0, total: 0 });
    this.loading_.hidden = false;
    try {
      const model = await this.model_.get((count) => this.showBytes(count));
      this.runtime_.textContent = await describeRuntime(model);
      this.headline_.textContent = 'Reading\u2026';
      return model;
    } finally {
      this.loading_.hidden = true;
    }
  }

  private showBytes({ loaded, total }: Bytes): void {
    if (total > 0) this.progress_.value = loaded / total;
    else this.progress_.removeAttribute('value');
    this.bytes_.textContent = total > 0 ? `${bytes(loaded)} of ${bytes(total)}` : bytes(loaded);
  }

  private showFailure(error: unknown): void {
    if (isFatal(error)) void this.model_.drop();
    this.details_.hidden = true;
    if (isAborted(error)) {
      this.headline_.textContent = 'Loading was cancelled. The next use starts it again.';
    } else {
      this.headline_.textContent = '';
      this.error_.replaceChildren(...describeFailure(error));
      if (isEmptyText(error)) this.pointAtEmptyField();
    }
    if (!this.model_.isLoaded) this.runtime_.textContent = 'The model is not loaded.';
  }

  private pointAtEmptyField(): void {
    const empty = this.fields_.find((field) => field.value.trim() === '');
    empty?.setAttribute('aria-invalid', 'true');
    empty?.focus();
  }

  private clearFailure(): void {
    this.error_.replaceChildren();
    for (const field of this.fields_) field.removeAttribute('aria-invalid');
  }

  /** A button disabled in HTML's sense would lose the focus; run() does the right thing anyway. */
  private setBusy(isBusy: boolean): void {
    this.isBusy_ = isBusy;
    this.submit_.setAttribute('aria-disabled', String(isBusy));
  }
}

/** Where the model runs, why nowhere better, and what it takes. */
async function describeRuntime({ info, memory }: AnyModel): Promise<string> {
  const { heapBytes } = await memory();
  const place = info.device === 'webgpu' ? 'the GPU' : `${info.threads} thread${info.threads === 1 ? '' : 's'} of the CPU`;
  return (
    `Model: ${bytes(info.bytes)}, loaded in ${duration(info.milliseconds)}, ${bytes(heapBytes)} of memory. ` +
    `Engine: the \u201c${info.variant}\u201d build in ${info.dtype} on ${place}. Why: ${info.reason}`
  );
}
