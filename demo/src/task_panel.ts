// What all tabs have in common: a form that asks a model, loading it first; progress, cancelling, failures, timing.
import type { Pipeline, TextPair } from '../peruse/dist/index.js';
import { find, make, makeButton } from './dom.js';
import { describeFailure, isAborted, isEmptyText, isFatal } from './failure.js';
import { bytes } from './format.js';
import { buildFrame } from './frame.js';
import { Inside } from './inside/inside.js';
import { LazyModel, type Bytes, type LoadOptions } from './loading.js';
import { ModelPicker, type BundledModel, type Settings } from './model_picker.js';
import { describeCall, describeRuntime } from './runtime.js';

export interface Task<Model, Output> {
  load(source: Settings['source'], options: LoadOptions): Promise<Model>;
  /** Asks the model about what the form holds now. */
  ask(model: Model, signal: AbortSignal): Promise<Output>;
  /** Shows the details of an output and returns its one-line summary, which is read out. */
  show(output: Output): (Node | string)[];
  /** The text (or pair) of the last call, as the model reads it. */
  inside(): string | TextPair;
}

/** What every pipeline has, whatever its task. */
type AnyModel = Pick<Pipeline, 'info' | 'memory' | 'usage' | 'dispose' | 'inspect'>;

/** An output's one line: what matters, then the rest. */
export function summary(best: string, rest: string): (Node | string)[] {
  return [make('strong', '', best), ` ${rest}`];
}

export class TaskPanel<Model extends AnyModel, Output> {
  private readonly model_: LazyModel<Model>;
  private readonly picker_: ModelPicker;
  private readonly inside_: Inside;
  private readonly submit_: HTMLButtonElement;
  private readonly loading_: HTMLElement;
  private readonly progress_: HTMLProgressElement;
  private readonly bytes_: HTMLElement;
  private readonly headline_: HTMLElement;
  private readonly details_: HTMLElement;
  private readonly error_: HTMLElement;
  private readonly timing_: HTMLElement;
  private readonly runtime_: HTMLElement;
  private readonly fields_: (HTMLInputElement | HTMLTextAreaElement)[];
  private call_ = new AbortController();
  private isBusy_ = false;
  private isAskedAgain_ = false;

  constructor(
    private readonly panel_: HTMLElement,
    bundled: readonly BundledModel[],
    private readonly task_: Task<Model, Output>,
  ) {
    buildFrame(panel_);
    this.model_ = new LazyModel((source, options) => task_.load(source, options));
    this.submit_ = find(panel_, '[type=submit]', HTMLButtonElement);
    this.loading_ = find(panel_, '.loading', HTMLElement);
    this.progress_ = find(panel_, 'progress', HTMLProgressElement);
    this.bytes_ = find(panel_, '.bytes', HTMLElement);
    this.headline_ = find(panel_, '.headline', HTMLElement);
    this.details_ = find(panel_, '.details', HTMLElement);
    this.error_ = find(panel_, '.error', HTMLElement);
    this.timing_ = find(panel_, '.timing', HTMLElement);
    this.runtime_ = find(panel_, '.runtime', HTMLElement);
    this.fields_ = [...panel_.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('.field > textarea, .field > input')];
    this.picker_ = new ModelPicker(panel_, bundled, () => void this.changeModel());
    this.inside_ = new Inside(find(panel_, '.inside', HTMLDetailsElement), () => this.model_.loaded?.inspect);
    this.sayWhenLoaded();

    const form = find(panel_, 'form', HTMLFormElement);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.run();
    });
    find(form, 'textarea', HTMLTextAreaElement).addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    find(panel_, '.cancel', HTMLButtonElement).addEventListener('click', () => {
      this.model_.cancel();
      this.call_.abort();
      this.submit_.focus();  // The button that had the focus is about to go.
    });
  }

  /** Buttons that put an example into the form and ask about it, after the label of `place`. */
  offer(examples: readonly string[], take: (example: string) => void, place = find(this.panel_, '.examples', HTMLElement)): void {
    const buttons = examples.map((example) => makeButton([example], () => {
      take(example);
      void this.run();
    }));
    place.replaceChildren(find(place, 'span', HTMLElement), ...buttons);
  }

  private async changeModel(): Promise<void> {
    await this.model_.drop();
    this.clear();
    this.headline_.textContent = this.panel_.dataset.placeholder ?? '';
    this.sayWhenLoaded();
  }

  private sayWhenLoaded(): void {
    const isNamed = this.picker_.settings.source !== undefined;
    this.runtime_.textContent = isNamed ? 'The model is read when you next use it.' : '';
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
      if (model) await this.ask(model);
    } catch (error) {
      this.isAskedAgain_ = false;
      this.showFailure(error);
    }
  }

  private async ask(model: Model): Promise<void> {
    this.call_ = new AbortController();
    this.progress_.removeAttribute('value');
    this.bytes_.textContent = '';
    const slow = setTimeout(() => (this.loading_.hidden = false), 300);
    try {
      const before = await model.usage();
      const output = await this.task_.ask(model, this.call_.signal);
      const after = await model.usage();
      this.headline_.replaceChildren(...this.task_.show(output));
      this.details_.hidden = false;
      this.timing_.textContent = describeCall(before, after, await model.memory());
      this.inside_.use(this.task_.inside());
    } finally {
      clearTimeout(slow);
      this.loading_.hidden = true;
    }
  }

  /** The model; nothing if the visitor has yet to name it, and is asked to. */
  private async load(): Promise<Model | undefined> {
    if (this.model_.loaded) return this.model_.loaded;
    this.clear();
    const { source, ...settings } = this.picker_.settings;
    if (source === undefined) {
      this.headline_.textContent = 'First name a model, or choose its files, under \u201cModel\u201d.';
      this.picker_.askForModel();
      return undefined;
    }
    this.headline_.textContent = 'Loading the model\u2026';
    this.runtime_.textContent = '';
    this.showBytes({ loaded: 0, total: 0 });
    this.loading_.hidden = false;
    try {
      const model = await this.model_.get({ source, ...settings }, (count) => this.showBytes(count));
      this.runtime_.textContent = describeRuntime(model.info);
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
    this.clear();
    if (isAborted(error)) {
      this.headline_.textContent = 'Cancelled. The next use starts afresh.';
    } else {
      this.headline_.textContent = '';
      this.error_.replaceChildren(...describeFailure(error));
      if (isEmptyText(error)) this.pointAtEmptyField();
    }
    if (!this.model_.loaded) this.runtime_.textContent = 'The model is not loaded.';
  }

  private pointAtEmptyField(): void {
    const empty = this.fields_.find((field) => field.value.trim() === '');
    empty?.setAttribute('aria-invalid', 'true');
    empty?.focus();
  }

  /** Takes away what an earlier call has shown. */
  private clear(): void {
    this.clearFailure();
    this.details_.hidden = true;
    this.timing_.textContent = '';
    this.inside_.use(undefined);
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
