// A visitor's choices in addition to the text: the model (next to the page, elsewhere, or own files), the device and the precision.
import type { PipelineOptions, Source } from '../peruse/peruse.js';
import { addressOf, type BundledModel } from './bundled.js';
import type { HubModel } from './curated.js';
import { find, make, makeButton } from './dom.js';
import { acceptDrops } from './drops.js';
import { bytes } from './format.js';
import { type Chosen, describeDownloads, lookUp } from './model_lookup.js';

export interface Settings {
  source: Source;
  /** Undefined if it is known only after loading. */
  task?: string;
  device: NonNullable<PipelineOptions['device']>;
  dtype: NonNullable<PipelineOptions['dtype']>;
  weights?: NonNullable<PipelineOptions['weights']>;
}

const kElsewhere = 'elsewhere';
const kOwn = 'own';

export class ModelPicker {
  private readonly model_: HTMLSelectElement;
  private readonly device_: HTMLSelectElement;
  private readonly dtype_: HTMLSelectElement;
  private readonly elsewhere_: HTMLElement;
  private readonly address_: HTMLInputElement;
  private readonly own_: HTMLElement;
  private readonly chosen_: HTMLElement;
  private readonly name_: HTMLElement;
  private files_: File[] | undefined;
  /** Weights that the visitor chose; used only for the model for which they were chosen. */
  private choice_: Chosen | undefined;
  private looking_ = new AbortController();
  private source_: Source | undefined;
  private confirmed_: (() => void) | undefined;

  /** Calls `onChange` after each change of the choice, and `onText` with a text that was dropped on the page. */
  constructor(
    panel: HTMLElement,
    private readonly bundled_: readonly BundledModel[],
    curated: readonly HubModel[],
    private readonly onChange_: () => void,
    onText: (text: string) => void,
    private readonly onFailure_: (error: unknown) => void,
  ) {
    const box = find(panel, '.model', HTMLElement);
    this.model_ = find(box, '[name=model]', HTMLSelectElement);
    this.device_ = find(box, '[name=device]', HTMLSelectElement);
    this.dtype_ = find(box, '[name=dtype]', HTMLSelectElement);
    this.elsewhere_ = find(box, '.elsewhere', HTMLElement);
    this.address_ = find(box, '[name=address]', HTMLInputElement);
    this.own_ = find(box, '.own', HTMLElement);
    this.chosen_ = find(box, '.chosen', HTMLElement);

    this.name_ = find(panel, '.model-name', HTMLElement);

    this.model_.append(
      ...bundled_.map((model) => new Option(model.name, addressOf(model))),
      new Option('From the hub, or an address\u2026', kElsewhere),
      new Option('Files of your own\u2026', kOwn),
    );
    find(box, '.curated', HTMLElement).append(...curated.map((model) => this.curatedButton(model)));
    this.model_.addEventListener('change', () => this.chooseModel());
    this.device_.addEventListener('change', this.onChange_);
    this.dtype_.addEventListener('change', this.onChange_);
    find(box, '.use', HTMLButtonElement).addEventListener('click', () => void this.lookUp());
    this.address_.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') void this.lookUp();
    });
    for (const input of this.own_.querySelectorAll('input')) {
      input.addEventListener('change', () => {
        if (input.files?.length) void this.useFiles([...input.files]);
      });
    }
    acceptDrops(panel, {
      onModel: (files) => {
        this.model_.value = kOwn;
        this.openDrawer();
        void this.useFiles(files);
      },
      onText,
      onRefused: (why) => {
        this.openDrawer();
        this.chosen_.textContent = why;
      },
    });
    this.takeModel();
  }

  /** A click shows the model's description; a second button loads it, because it is large. */
  private curatedButton({ id, megabytes, about }: HubModel): HTMLButtonElement {
    const size = bytes(1e6 * megabytes).replace('.0', '');
    return makeButton([make('code', '', id), ` ${size}, ${about}`], () => {
      this.address_.value = id;
      void this.lookUp();
    });
  }

  private get tasks(): string[] {
    return this.bundled_.map(({ task }) => task);
  }

  private async lookUp(): Promise<void> {
    this.looking_.abort();
    this.looking_ = new AbortController();
    const { signal } = this.looking_;
    const name = this.address_.value.trim();
    if (name === '') return this.address_.focus();
    this.chosen_.textContent = 'Looking it up\u2026';
    try {
      const { found, chosen } = await lookUp(name, this.tasks, signal);
      if (signal.aborted) return;
      this.chosen_.replaceChildren(...describeDownloads(found, chosen, this.tasks, (one) => this.use(one)));
    } catch (error) {
      if (signal.aborted) return;
      this.chosen_.textContent = '';
      this.onFailure_(error);
    }
  }

  private use(chosen: Chosen): void {
    this.choice_ = chosen;
    if (![...this.dtype_.options].some(({ value }) => value === chosen.dtype)) this.dtype_.append(new Option(chosen.dtype));
    this.dtype_.value = chosen.dtype;
    this.chooseModel();
  }

  private openDrawer(): void {
    this.model_.closest('details')?.setAttribute('open', '');
  }

  /** The choices, without a source if the visitor has yet to name a model or choose files. */
  get settings(): Partial<Pick<Settings, 'source'>> & Omit<Settings, 'source'> {
    const choice = this.choice_?.source === this.source_ ? this.choice_ : undefined;
    const task = choice?.task ?? this.bundled_.find((model) => addressOf(model) === this.model_.value)?.task;
    return {
      ...(task === undefined ? {} : { task }),
      ...(choice?.weights === 'onnx' ? { weights: choice.weights } : {}),
      ...(this.source_ === undefined ? {} : { source: this.source_ }),
      device: this.device_.value as Settings['device'],
      dtype: this.dtype_.value as Settings['dtype'],
    };
  }

  /** Chooses a bundled model, unless the visitor has chosen a model elsewhere or own files. */
  useBundled(model: BundledModel): void {
    const isBundled = this.elsewhere_.hidden && this.own_.hidden; // Keeps a model elsewhere and own files.
    if (!isBundled || this.model_.value === addressOf(model)) return;
    this.model_.value = addressOf(model);
    this.chooseModel();
  }

  useHub(id: string): void {
    this.model_.value = kElsewhere;
    this.address_.value = id;
    this.openDrawer();
    this.chooseModel();
  }

  /** The chosen model is loaded: a later choice that fails returns to it. */
  confirm(): void {
    const [model, address, device, dtype] = [this.model_.value, this.address_.value, this.device_.value, this.dtype_.value];
    const [files, choice] = [this.files_, this.choice_];
    this.confirmed_ = () => {
      [this.model_.value, this.address_.value, this.device_.value, this.dtype_.value] = [model, address, device, dtype];
      [this.files_, this.choice_] = [files, choice];
      this.takeModel();
    };
  }

  revert(): void {
    this.confirmed_?.();
  }

  askForModel(): void {
    this.openDrawer();
    (this.elsewhere_.hidden ? find(this.own_, 'input', HTMLInputElement) : this.address_).focus();
  }

  private chooseModel(): void {
    this.takeModel();
    this.onChange_();
  }

  private takeModel(): void {
    const choice = this.model_.value;
    this.elsewhere_.hidden = choice !== kElsewhere;
    this.own_.hidden = choice !== kOwn;
    this.source_ = choice === kElsewhere ? this.address_.value.trim() || undefined : choice === kOwn ? this.files_ : choice;
    this.name_.textContent = this.model_.selectedOptions[0]?.text ?? '';
    this.describe();
  }

  /** Describes the files only to find the task, without a download. If that fails, loading reports the reason. */
  private async useFiles(files: File[]): Promise<void> {
    this.files_ = files;
    this.chosen_.textContent = 'Looking at the files\u2026';
    const { chosen } = await lookUp(files, this.tasks, this.looking_.signal).catch(() => ({ chosen: [] }));
    this.choice_ = chosen[0];
    this.chooseModel();
  }

  private describe(): void {
    const named =
      typeof this.source_ === 'string' ? [make('code', '', this.source_)] : [(this.files_ ?? []).map((file) => file.name).join(', ')];
    const isBundled = this.elsewhere_.hidden && this.own_.hidden;
    this.chosen_.replaceChildren(
      ...(isBundled ? [] : this.source_ === undefined ? ['No model is named yet.'] : ['In use: ', ...named, '.']),
    );
  }
}
