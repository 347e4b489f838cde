// Shared by the tabs that call a model. A tab has a form; its model is loaded when the tab is first opened, and called after every change
// of the form. Handles progress, cancelling, failures and timing, and shows code and a link for the form's contents.
import type { Pipeline } from '../peruse/peruse.js';
import { type BundledModel, isBundled } from './bundled.js';
import { type CallCode, codeOf, shownCode } from './code.js';
import { copyOnClick } from './copy.js';
import type { HubModel } from './curated.js';
import { bringIntoView, find, letScroll, make, makeButton, withDirection } from './dom.js';
import { describeFailedChange, describeFailure, isAborted, isEmptyText, isFatal } from './failure.js';
import { bytes } from './format.js';
import { buildFrame } from './frame.js';
import { Inside, type LastStep, type LookedAt } from './inside/inside.js';
import { fillFromAddress, linkTo } from './link.js';
import { type Bytes, LazyModel, type LoadOptions } from './loading.js';
import { ModelPicker, type Settings } from './model_picker.js';
import type { Proof } from './proof.js';
import { Race } from './race.js';
import { describeCall, describeRuntime } from './runtime.js';

export interface Task<Model, Output> {
  /** Models next to the page, the default one first. */
  readonly bundled: readonly BundledModel[];
  readonly curated: readonly HubModel[];
  /** Loads a model. `task` is known for models next to the page. */
  load(source: Settings['source'], options: LoadOptions, task: string | undefined): Promise<Model>;
  onModel?(task: string | undefined): void;
  ask(model: Model, signal: AbortSignal): Promise<Output>;
  askAbout(model: Model, text: string, signal: AbortSignal): Promise<unknown>;
  /** Shows an output. Returns a one-line summary, which screen readers read. */
  show(output: Output): (Node | string)[];
  /** Empties what the task shows besides its details. */
  clear?(): void;
  /** Computes a first result without the model. The returned function shows it, and returns its summary. */
  early?(): Promise<() => (Node | string)[]>;
  /** Shows details that take longer to compute; the signal is given when the form changes. */
  explain?(model: Model, output: Output, signal: AbortSignal): Promise<void>;
  /** The text (or pair) of the last call. */
  inside(): LookedAt;
  /** The last step of "Look inside": the answer to the last call. */
  lastStep(model: Model): Promise<LastStep>;
  /** The call as code, for the model from `source`. */
  code(source: unknown): CallCode;
  /** Values that replace those of the form in a link to it, by field. */
  linkValues?(): Readonly<Record<string, string>>;
}

export type AnyModel = Pick<Pipeline, 'info' | 'memory' | 'usage' | 'dispose' | 'inspect'>;

export interface Tab {
  open(): void;
}

/** A tab whose model "Look inside" can inspect. */
export interface Inspectable extends Tab {
  lookInto(place: HTMLElement): void;
  /** Another tab uses the place now. */
  leave(): void;
  /** Another tab's model needs the connection: the download of this tab's model ends, and starts again when the tab is shown. */
  giveWay(): void;
}

export function summary(best: string, ...rest: (Node | string)[]): (Node | string)[] {
  return [withDirection(make('strong', '', best)), ' ', ...rest];
}

const kEarly = 'is-early'; // a class of panel.css
const kQuick = 60; // ms; calls that take less are made after every key
const kLongestPause = 500; // longest wait after the last key, in ms
const kBeforeExplaining = 200; // ms
/** A larger model is freed before another one is loaded: memory may not hold both. */
const kMostKept = 100e6; // bytes

type Field = HTMLInputElement | HTMLTextAreaElement;

export class TaskPanel<Model extends AnyModel, Output> implements Inspectable {
  private readonly model_: LazyModel<Model>;
  private readonly picker_: ModelPicker;
  private readonly inside_: Inside<Model>;
  private readonly race_: Race<Model>;
  private readonly submit_: HTMLButtonElement;
  private readonly result_: HTMLElement;
  private readonly loading_: HTMLElement;
  private readonly progress_: HTMLProgressElement;
  private readonly bytes_: HTMLElement;
  private readonly headline_: HTMLElement;
  private readonly details_: HTMLElement;
  private readonly error_: HTMLElement;
  private readonly timing_: HTMLElement;
  private readonly runtime_: HTMLElement;
  private readonly code_: HTMLElement;
  /** Fields that must not be empty. */
  private readonly fields_: readonly Field[];
  private call_ = new AbortController();
  private explaining_ = new AbortController();
  private pause_: ReturnType<typeof setTimeout> | undefined;
  private milliseconds_ = 0;
  private isBusy_ = false;
  private isAskedAgain_ = false;
  private isOpened_ = false;
  private changes_ = 0;
  /** The load of another model, while the former one is still there. Never rejects. */
  private replacing_: Promise<void> | undefined;

  constructor(
    private readonly panel_: HTMLElement,
    private readonly proof_: Proof,
    private readonly task_: Task<Model, Output>,
  ) {
    buildFrame(panel_);
    this.model_ = new LazyModel((source, options) => task_.load(source, options, this.picker_.settings.task), proof_);
    this.submit_ = find(panel_, '[type=submit]', HTMLButtonElement);
    this.result_ = find(panel_, '.result', HTMLElement);
    this.loading_ = find(panel_, '.loading', HTMLElement);
    this.progress_ = find(panel_, 'progress', HTMLProgressElement);
    this.bytes_ = find(panel_, '.bytes', HTMLElement);
    this.headline_ = find(panel_, '.headline', HTMLElement);
    this.details_ = find(panel_, '.details', HTMLElement);
    this.error_ = find(panel_, '.error', HTMLElement);
    this.timing_ = find(panel_, '.timing', HTMLElement);
    this.runtime_ = find(panel_, '.runtime', HTMLElement);
    this.code_ = find(panel_, '.code code', HTMLElement);
    this.fields_ = [...panel_.querySelectorAll<Field>('.fields > .field > textarea, .fields > .field > input')];
    const readText = (text: string) => {
      const field = find(panel_, '.fields textarea', HTMLTextAreaElement);
      field.value = text;
      void this.run();
    };
    this.picker_ = new ModelPicker(
      panel_,
      task_.bundled,
      task_.curated,
      () => void this.changeModel(),
      readText,
      (error) => this.error_.replaceChildren(...describeFailure(error)),
    );
    this.offerBetter();
    this.inside_ = new Inside(
      () => this.model_.loaded,
      (model) => task_.lastStep(model),
    );
    this.race_ = new Race(
      find(panel_, '.race', HTMLDetailsElement),
      () => this.picker_.settings.source,
      {
        load: (source, options) => task_.load(source, options, this.picker_.settings.task),
        ask: (model, text, signal) => task_.askAbout(model, text, signal),
      },
      () => proof_.modelIsReady(),
    );
    this.sayWhenLoaded();
    this.listen();
  }

  private listen(): void {
    const form = find(this.panel_, 'form', HTMLFormElement);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.runForClick();
    });
    form.addEventListener('input', () => this.edited());
    find(form, 'textarea', HTMLTextAreaElement).addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    find(this.panel_, '.cancel', HTMLButtonElement).addEventListener('click', () => {
      this.isAskedAgain_ = false;
      this.model_.cancel();
      if (!this.replacing_) this.call_.abort();
      this.submit_.focus(); // The focused button is about to disappear.
    });
    const said = find(this.panel_, '.copied', HTMLElement);
    copyOnClick(find(this.panel_, '.copy-link', HTMLButtonElement), () => linkTo(this.panel_, this.task_.linkValues?.()), said);
    copyOnClick(find(this.panel_, '.copy-code', HTMLButtonElement), () => this.code_.textContent ?? '');
  }

  lookInto(place: HTMLElement): void {
    this.inside_.showIn(place);
    this.open();
  }

  leave(): void {
    this.inside_.leave();
  }

  giveWay(): void {
    if (!this.model_.giveWay()) return;
    this.isAskedAgain_ = false;
    this.isOpened_ = false;
  }

  useBundled(model: BundledModel): void {
    this.picker_.useBundled(model);
  }

  /** Answers the form, and scrolls to the answer. */
  async runForClick(): Promise<void> {
    await this.run();
    bringIntoView(this.result_);
  }

  /** Called when the tab is shown. Answers the form the first time, and when the address contains a text. */
  open(): void {
    const isFilled = fillFromAddress(this.panel_);
    if (this.isOpened_ && !isFilled) return;
    this.isOpened_ = true;
    void this.run();
  }

  offer<E>(examples: readonly E[], nameOf: (example: E) => string, take: (example: E) => void): void {
    const place = find(this.panel_, '.examples', HTMLElement); // The first place, above the fields.
    const buttons = examples.map((example) =>
      makeButton([nameOf(example)], () => {
        take(example);
        void this.runForClick();
      }),
    );
    place.append(...buttons);
  }

  /** Offers to switch from the small bundled model to a better one by one click. */
  private offerBetter(): void {
    const [better] = this.task_.curated;
    if (!better) return;
    const size = bytes(1e6 * better.megabytes).replace('.0', '');
    const button = makeButton([`A better model: ${better.id}, ${size}`], () => this.picker_.useHub(better.id));
    button.className = 'better';
    find(this.panel_, '.honest', HTMLElement).append(' ', button);
  }

  /** The form has changed: the shown answer is out of date until the next one. */
  private edited(): void {
    this.explaining_.abort();
    clearTimeout(this.pause_);
    this.showCode();
    if (this.emptyField()) {
      this.isAskedAgain_ = false;
      this.call_.abort();
      this.clear();
      this.headline_.textContent = this.panel_.dataset.placeholder ?? '';
      return;
    }
    if (!this.model_.loaded && !this.isBusy_) return; // Without a model, an edit does not load one.
    this.result_.classList.add('is-stale');
    const pause = this.milliseconds_ < kQuick ? 0 : Math.min(this.milliseconds_, kLongestPause);
    this.pause_ = setTimeout(() => {
      this.call_.abort(); // The call is for an older text.
      void this.run();
    }, pause);
  }

  private emptyField(): Field | undefined {
    return this.fields_.find((field) => field.value.trim() === '' && field.closest('[hidden]') === null);
  }

  private async changeModel(): Promise<void> {
    this.race_.reset();
    const { source, ...settings } = this.picker_.settings;
    const { loaded } = this.model_;
    if (loaded && source === undefined) return; // It stays until another one is named.
    if (loaded && source !== undefined && loaded.info.bytes < kMostKept) {
      this.replacing_ = this.replaceModel({ source, ...settings });
      return;
    }
    this.changes_++;
    await this.model_.drop();
    this.clear();
    this.task_.onModel?.(settings.task);
    this.showCode();
    this.headline_.textContent = this.panel_.dataset.placeholder ?? '';
    this.sayWhenLoaded();
    if (this.isOpened_ && source !== undefined && !this.emptyField()) void this.run();
  }

  /** Loads another model. The former one answers meanwhile, and stays if the load fails. */
  private async replaceModel(settings: Settings): Promise<void> {
    const number = ++this.changes_;
    this.clearFailure();
    this.result_.classList.toggle('is-stale', isBundled(settings.source)); // It will be here soon, so the former one does not answer.
    this.loading_.hidden = false;
    this.showBytes({ loaded: 0, total: 0 });
    try {
      const former = await this.model_.replace(settings, (count) => this.showBytes(count));
      this.picker_.confirm();
      this.task_.onModel?.(settings.task);
      this.showCode();
      this.runtime_.textContent = describeRuntime(this.model_.loaded!.info);
      this.call_.abort(); // A call of the former model.
      if (this.isBusy_) this.isAskedAgain_ = true;
      else if (!this.emptyField()) void this.run();
      await former?.dispose();
    } catch (error) {
      if (number !== this.changes_) return; // The visitor has chosen yet another model.
      this.picker_.revert();
      this.showCode();
      this.result_.classList.remove('is-stale');
      this.error_.replaceChildren(...describeFailedChange(error));
    } finally {
      if (number === this.changes_) {
        this.replacing_ = undefined;
        this.loading_.hidden = true;
      }
    }
  }

  private get isLoadingAnother(): boolean {
    return this.replacing_ !== undefined && !isBundled(this.picker_.settings.source);
  }

  private sayWhenLoaded(): void {
    const isNamed = this.picker_.settings.source !== undefined;
    this.runtime_.textContent = isNamed ? 'The model is read when you next use it.' : '';
  }

  /** Answers the form. If the form changes meanwhile, answers it again. */
  async run(): Promise<void> {
    this.isAskedAgain_ = true;
    this.showCode();
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
      if (isAborted(error) && this.isAskedAgain_) return; // A newer call has replaced this one.
      this.isAskedAgain_ = false;
      this.showFailure(error);
    }
  }

  private async ask(model: Model): Promise<void> {
    this.call_ = new AbortController();
    if (!this.isLoadingAnother) {
      this.progress_.removeAttribute('value');
      this.bytes_.textContent = '';
    }
    const slow = setTimeout(() => (this.loading_.hidden = false), 300);
    try {
      const before = await model.usage();
      const output = await this.task_.ask(model, this.call_.signal);
      const after = await model.usage();
      const memory = await model.memory();
      clearTimeout(slow);
      this.loading_.hidden = !this.isLoadingAnother; // Before the answer is shown, which takes its place.
      this.milliseconds_ = after.milliseconds - before.milliseconds;
      this.proof_.answered(this.milliseconds_);
      this.headline_.replaceChildren(...this.task_.show(output));
      this.result_.classList.remove(kEarly);
      this.details_.hidden = false;
      letScroll(this.details_);
      this.timing_.textContent = describeCall(before, after, memory);
      if (this.isAskedAgain_) return;
      this.result_.classList.remove('is-stale');
      this.inside_.use(this.task_.inside());
      void this.explain(model, output);
    } finally {
      clearTimeout(slow);
      this.loading_.hidden = !this.isLoadingAnother;
    }
  }

  private async explain(model: Model, output: Output): Promise<void> {
    this.explaining_.abort();
    this.explaining_ = new AbortController();
    const { signal } = this.explaining_;
    await new Promise((done) => setTimeout(done, kBeforeExplaining));
    if (signal.aborted || this.model_.loaded !== model) return;
    // A failed explanation does not affect the answer.
    await this.task_.explain?.(model, output, signal).catch(() => {});
  }

  /** Returns the model. If the visitor has not named one, asks for it and returns undefined. */
  private async load(): Promise<Model | undefined> {
    if (this.replacing_ && !this.isLoadingAnother) await this.replacing_;
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
    this.result_.classList.toggle(kEarly, this.task_.early !== undefined);
    this.loading_.hidden = false;
    const early = this.showEarly();
    early.catch(() => {}); // A failure is thrown below, unless the model fails first.
    try {
      const model = await this.model_.get({ source, ...settings }, (count) => this.showBytes(count));
      await early;
      this.picker_.confirm();
      this.runtime_.textContent = describeRuntime(model.info);
      if (this.details_.hidden) this.headline_.textContent = 'Reading\u2026';
      return model;
    } finally {
      this.loading_.hidden = true;
    }
  }

  /** Shows a first result. The buttons for copying stay invisible until the model has answered. */
  private async showEarly(): Promise<void> {
    const draw = await this.task_.early?.();
    if (!draw || !this.result_.classList.contains(kEarly)) return;
    this.headline_.replaceChildren(...draw());
    this.details_.hidden = false;
  }

  private showBytes({ loaded, total }: Bytes): void {
    if (total > 0) this.progress_.value = loaded / total;
    else this.progress_.removeAttribute('value');
    this.bytes_.textContent = total > 0 ? `${bytes(loaded)} of ${bytes(total)}` : bytes(loaded);
  }

  private showCode(): void {
    this.code_.replaceChildren(...shownCode(codeOf(this.task_.code(this.picker_.settings.source), this.picker_.settings)));
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
    const empty = this.emptyField();
    empty?.setAttribute('aria-invalid', 'true');
    empty?.focus();
  }

  private clear(): void {
    this.clearFailure();
    this.explaining_.abort();
    this.result_.classList.remove('is-stale', kEarly);
    this.details_.hidden = true;
    this.task_.clear?.();
    this.timing_.textContent = '';
    this.inside_.use(undefined);
  }

  private clearFailure(): void {
    this.error_.replaceChildren();
    for (const field of this.fields_) field.removeAttribute('aria-invalid');
  }

  /** Sets `aria-disabled`, because with `disabled` the button would lose the focus. */
  private setBusy(isBusy: boolean): void {
    this.isBusy_ = isBusy;
    this.submit_.setAttribute('aria-disabled', String(isBusy));
  }
}
