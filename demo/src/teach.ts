// The teaching tab: trains a model on the visitor's lines and labels, shows the lines with which it has most difficulty, and saves the
// model.
import { env, type LabelScore, PeruseError, type Pipeline, pipeline } from '../peruse/peruse.js';
import type { Taught, TeachOptions, TeachProgress, TextExample } from '../peruse/peruse-teach.js';
import { bars } from './bars.js';
import { addressOf, kSorter } from './bundled.js';
import { linesOf, shownCode } from './code.js';
import { copyOnClick } from './copy.js';
import { bringIntoView, find, make, makeButton, withDirection } from './dom.js';
import { acceptDrops, isModel } from './drops.js';
import { describeFailure, isAborted } from './failure.js';
import { bytes, count, duration, percent } from './format.js';
import { type LessonExample, lessonExamples } from './lesson_examples.js';
import { counted } from './loading.js';
import { LossCurve } from './loss_curve.js';
import type { Proof } from './proof.js';
import type { Tab } from './task_panel.js';

const kModel = addressOf(kSorter);
const kHardest = 5;
const kSuggested = 3;

/** Half the usual batch: the visitor waits half as long for the same number of updates. */
const kSettings = { batch_size: 8 } as const;

type Classifier = Pipeline<'text-classification'>;

/** An API that only some browsers have. */
interface Picking {
  showDirectoryPicker?: (options: { mode: 'readwrite' }) => Promise<Parameters<Taught['save']>[0]>;
}

/** `onStart` is called before the first download. */
export function startTeach(panel: HTMLElement, proof: Proof, onStart: () => void): Tab {
  const tab = new TeachTab(panel, proof, onStart);
  return { open: () => tab.open() };
}

class TeachTab {
  private readonly kinds_: HTMLElement;
  private readonly headline_: HTMLElement;
  private readonly progress_: HTMLProgressElement;
  private readonly running_: HTMLElement;
  private readonly error_: HTMLElement;
  private readonly learnt_: HTMLElement;
  private readonly try_: HTMLInputElement;
  private readonly curve_ = new LossCurve();
  private stop_: AbortController | undefined;
  private taught_: Taught<'text-classification'> | undefined;
  private learntFrom_: TextExample[] = [];
  private classify_: Classifier | undefined;
  private tries_ = 0;

  constructor(
    private readonly panel_: HTMLElement,
    private readonly proof_: Proof,
    private readonly onStart_: () => void,
  ) {
    this.kinds_ = find(panel_, '.kinds', HTMLElement);
    this.headline_ = find(panel_, '.headline', HTMLElement);
    this.progress_ = find(panel_, 'progress', HTMLProgressElement);
    this.running_ = find(panel_, '.loading', HTMLElement);
    this.error_ = find(panel_, '.error', HTMLElement);
    this.learnt_ = find(panel_, '.learnt', HTMLElement);
    this.try_ = find(panel_, '[name=try]', HTMLInputElement);
    find(panel_, '.curve-place', HTMLElement).append(this.curve_.element);
    find(panel_, 'form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.teach();
    });
    find(panel_, '.cancel', HTMLButtonElement).addEventListener('click', () => this.stop_?.abort());
    find(panel_, '.add-kind', HTMLButtonElement).addEventListener('click', () => this.addKind('', []).focus());
    find(panel_, '.save', HTMLButtonElement).addEventListener('click', () => void this.save());
    find(panel_, '.suggest', HTMLButtonElement).addEventListener('click', () => void this.suggest());
    this.try_.addEventListener('input', () => void this.tryOut());
    const saved = find(panel_, '[name=saved]', HTMLInputElement);
    find(panel_, '.open-saved', HTMLButtonElement).addEventListener('click', () => saved.click());
    saved.addEventListener('change', () => {
      const files = [...(saved.files ?? [])];
      saved.value = ''; // Allows choosing the same files again.
      void this.openSaved(files);
    });
    acceptDrops(panel_, {
      onModel: (files) => void this.openSaved(files),
      onText: (text) => void this.tryText(text),
      onRefused: (why) => (this.headline_.textContent = why),
    });
    const code = find(panel_, '.take code', HTMLElement);
    copyOnClick(find(panel_, '.copy-lines', HTMLButtonElement), () => code.textContent ?? '');
    const offered = lessonExamples.map((example) => makeButton([example.name], () => this.fill(example)));
    find(panel_, '.examples', HTMLElement).append(...offered);
  }

  open(): void {
    if (this.kinds_.childElementCount === 0) this.fill(lessonExamples[0]!);
  }

  private fill({ labels, tryOut }: LessonExample): void {
    this.kinds_.replaceChildren();
    for (const { label, lines } of labels) this.addKind(label, lines);
    this.try_.value = tryOut;
  }

  private addKind(label: string, lines: readonly string[]): HTMLInputElement {
    const number = this.kinds_.childElementCount + 1;
    const name = make('input', '');
    Object.assign(name, {
      value: label,
      type: 'text',
      name: 'label',
      autocomplete: 'off',
      placeholder: 'label',
      dir: 'auto',
      enterKeyHint: 'next',
    });
    name.setAttribute('aria-label', `Label ${number}`);
    const text = make('textarea', '');
    Object.assign(text, { value: lines.join('\n'), rows: 5, name: 'lines', dir: 'auto' });
    text.setAttribute('aria-label', `Lines of label ${number}`);
    this.kinds_.append(make('div', 'field kind-field', name, text));
    return name;
  }

  private examples(): TextExample[] {
    return [...this.kinds_.children].flatMap((kind) => {
      const label = find(kind, 'input', HTMLInputElement).value.trim();
      const lines = find(kind, 'textarea', HTMLTextAreaElement).value.split('\n');
      return lines.flatMap((line) => (line.trim() === '' || label === '' ? [] : [{ text: line.trim(), label }]));
    });
  }

  private async teach(): Promise<void> {
    if (this.stop_) return;
    const stop = new AbortController();
    this.stop_ = stop;
    const earlier = this.taught_;
    const added = earlier && addedTo(this.learntFrom_, this.examples());
    const examples = added ? [...this.learntFrom_, ...added] : this.examples();
    this.taught_ = undefined;
    await this.forget();
    this.begin();
    this.onStart_();
    bringIntoView(find(this.panel_, '.result', HTMLElement));
    const before = performance.now();
    try {
      env.cache = false; // The model is next to the page, so the service worker stores it.
      const run = { ...kSettings, signal: stop.signal, progress_callback: (progress: TeachProgress) => this.show(progress) };
      const taught = await counted(added ? earlier!.more(added, run) : teachNew(examples, run));
      this.taught_ = taught;
      this.learntFrom_ = examples;
      this.classify_ = await taught.pipeline();
      this.proof_.modelIsReady();
      await this.showLearnt(taught, examples, performance.now() - before);
    } catch (error) {
      this.headline_.textContent = isAborted(error) ? 'Cancelled. Nothing was kept.' : '';
      if (!isAborted(error)) this.error_.replaceChildren(...describeFailure(error));
    } finally {
      await earlier?.dispose();
      this.stop_ = undefined;
      this.running_.hidden = true;
    }
  }

  /** Opens a saved model, which can answer but not be trained further. */
  private async openSaved(files: File[]): Promise<void> {
    if (this.stop_ || files.length === 0) return;
    const stop = new AbortController();
    this.stop_ = stop;
    await this.forget();
    this.begin();
    try {
      if (!isModel(files))
        throw new Error('Choose all files of a saved model: config.json, tokenizer.json, model.safetensors and the others.');
      this.classify_ = await pipeline('text-classification', files, { signal: stop.signal });
      this.proof_.modelIsReady();
      find(this.panel_, '.curve-place', HTMLElement).hidden = true;
      this.headline_.replaceChildren(make('strong', '', 'Opened'), ' It answers as it did when it was saved.');
      this.showUse(false);
      await this.tryOut();
    } catch (error) {
      this.headline_.textContent = '';
      this.error_.replaceChildren(...describeFailure(error));
    } finally {
      this.stop_ = undefined;
      this.running_.hidden = true;
    }
  }

  /** Shows the parts of the page for using the model. `isLesson`: it has just been trained. */
  private showUse(isLesson: boolean): void {
    for (const part of this.panel_.querySelectorAll<HTMLElement>('.of-lesson, .save')) part.hidden = !isLesson;
    find(this.panel_, '.saved', HTMLElement).replaceChildren();
    this.showLines();
    this.learnt_.hidden = false;
  }

  private showLines(): void {
    find(this.panel_, '.take code', HTMLElement).replaceChildren(...shownCode(linesOf(this.try_.value)));
  }

  private begin(): void {
    this.error_.replaceChildren();
    this.learnt_.hidden = true;
    this.running_.hidden = false;
    this.curve_.clear();
    find(this.panel_, '.curve-place', HTMLElement).hidden = false;
    this.progress_.removeAttribute('value');
    this.headline_.textContent = 'Loading the model\u2026';
  }

  private show({ phase, step, steps, loss, load }: TeachProgress): void {
    if (load?.status === 'progress') this.proof_.loading(`${kModel}${load.file}`, load.loaded);
    if (phase === 'loading' || steps === 0) return;
    this.progress_.value = step / steps;
    if (loss !== null && phase === 'training') this.curve_.add(loss, steps);
    if (phase === 'training') this.headline_.textContent = `Step ${step} of ${steps}`;
  }

  private async showLearnt(taught: Taught<'text-classification'>, examples: TextExample[], milliseconds: number): Promise<void> {
    const { report } = taught;
    const { accuracy } = report;
    const judged = accuracy ? `Tested on lines that it had not seen, it got ${share(accuracy.accuracy, report.examples)} right.` : '';
    const { notices } = this.classify_!.info;
    const before = notices.length;
    const scores = await this.classify_!(
      examples.map(({ text }) => text),
      { top_k: null },
    );
    const cut = notices.length > before ? ' Of lines that are too long it read only the beginning.' : '';
    this.headline_.replaceChildren(
      make('strong', '', 'Learnt'),
      ` ${count(report.examples, 'line')} in ${duration(milliseconds)}. ${judged}${cut}`,
    );
    const own = examples.map(({ text, label }, index) => ({
      text,
      label: String(label),
      score: (scores[index] as LabelScore[]).find((one) => one.label === label)?.score ?? 0,
      predicted: accuracy?.wrong.find(({ example }) => example === index)?.predicted,
    }));
    const wrongFirst = (line: (typeof own)[number]) => Number(line.predicted === undefined);
    const hardest = own.sort((a, b) => wrongFirst(a) - wrongFirst(b) || a.score - b.score).slice(0, kHardest);
    const rows = hardest.map(({ text, label, score, predicted }) => {
      const doubt = predicted === undefined ? `${label}, ${percent(score)}` : `${label}; others suggest ${predicted}`;
      return make('li', '', withDirection(make('span', 'label', text)), make('span', 'tag', doubt));
    });
    find(this.panel_, '.hardest', HTMLElement).replaceChildren(...rows);
    const size = [...taught.files.values()].reduce((sum, file) => sum + file.length, 0);
    find(this.panel_, '.save', HTMLButtonElement).textContent = `Save the model (${bytes(size)})`;
    this.showUse(true);
    await this.tryOut();
    bringIntoView(find(this.panel_, '.result', HTMLElement));
  }

  private async tryOut(): Promise<void> {
    this.showLines();
    const number = ++this.tries_;
    const list = find(this.panel_, '.bars', HTMLElement);
    if (!this.classify_) return list.replaceChildren();
    if (this.try_.value.trim() === '') {
      list.replaceChildren();
      this.error_.replaceChildren();
      return;
    }
    const before = performance.now();
    try {
      const labels = await this.classify_(this.try_.value, { top_k: null, truncation: false });
      this.proof_.answered(performance.now() - before);
      if (number !== this.tries_) return;
      list.replaceChildren(...bars(labels));
      this.error_.replaceChildren();
    } catch (error) {
      if (number !== this.tries_) return; // A newer call has replaced this one, or the model is gone.
      list.replaceChildren();
      this.error_.replaceChildren(...describeFailure(error));
    }
  }

  private async tryText(text: string): Promise<void> {
    this.try_.value = text;
    await this.tryOut();
  }

  /** Suggests which unlabelled lines to label next; a click on a label moves the line there. */
  private async suggest(): Promise<void> {
    const taught = this.taught_;
    if (!taught) return;
    const field = find(this.panel_, '[name=unlabelled]', HTMLTextAreaElement);
    const lines = field.value.split('\n').filter((line) => line.trim() !== '');
    try {
      const found = await taught.suggest(lines, kSuggested);
      const rows = found.map(({ text }) => {
        const row = make('li', '', withDirection(make('span', 'label', text)));
        const choices = taught.report.labels.map((label) =>
          makeButton([label], () => {
            this.give(label, text);
            field.value = field.value
              .split('\n')
              .filter((line) => line !== text)
              .join('\n');
            row.remove();
          }),
        );
        row.append(make('span', 'actions', ...choices));
        return row;
      });
      find(this.panel_, '.suggested', HTMLElement).replaceChildren(...rows);
    } catch (error) {
      this.error_.replaceChildren(...describeFailure(error));
    }
  }

  private give(label: string, line: string): void {
    const kind = [...this.kinds_.children].find((one) => find(one, 'input', HTMLInputElement).value.trim() === label);
    if (!kind) return;
    const lines = find(kind, 'textarea', HTMLTextAreaElement);
    lines.value = `${lines.value.trimEnd()}\n${line}`;
  }

  /** Saves to a folder if the browser lets a page choose one, otherwise file by file. */
  private async save(): Promise<void> {
    const taught = this.taught_;
    if (!taught) return;
    const said = find(this.panel_, '.saved', HTMLElement);
    const { showDirectoryPicker } = window as Picking;
    try {
      if (showDirectoryPicker) {
        await taught.save(await showDirectoryPicker.call(window, { mode: 'readwrite' }));
        said.textContent = 'Saved.';
        return;
      }
    } catch (error) {
      if (isAborted(error)) return;
      if (error instanceof PeruseError && error.code === 'invalid_argument') {
        said.textContent = 'That folder holds a model: choose another one.';
        return;
      }
    }
    said.replaceChildren(
      ...[...taught.files].map(([name, content]) => {
        const link = make('a', '', name);
        link.href = URL.createObjectURL(new Blob([content]));
        link.download = name;
        return link;
      }),
    );
  }

  private async forget(): Promise<void> {
    for (const link of this.panel_.querySelectorAll<HTMLAnchorElement>('.saved a')) URL.revokeObjectURL(link.href);
    const [taught, classify] = [this.taught_, this.classify_];
    this.taught_ = undefined;
    this.classify_ = undefined;
    this.tries_++; // A call that still runs shows nothing.
    await Promise.all([taught?.dispose(), classify?.dispose()]);
  }
}

async function teachNew(examples: readonly TextExample[], run: TeachOptions<'text-classification'> & { signal: AbortSignal }) {
  const { teach } = await import('../peruse/peruse-teach.js');
  return teach('text-classification', kModel, examples, run);
}

/** Returns the new examples. Undefined without new examples, or if earlier examples are missing, because training then starts again. */
function addedTo(earlier: readonly TextExample[], now: readonly TextExample[]): TextExample[] | undefined {
  const keyOf = ({ text, label }: TextExample) => JSON.stringify([text, label]);
  const known = new Set(earlier.map(keyOf));
  const kept = new Set(now.map(keyOf));
  const added = now.filter((example) => !known.has(keyOf(example)));
  return added.length > 0 && earlier.every((example) => kept.has(keyOf(example))) ? added : undefined;
}

/** Shows a count of correct examples, because a percentage of few examples would look too exact. */
function share(accuracy: number, examples: number): string {
  return `${Math.round(accuracy * examples)} of ${examples}`;
}
