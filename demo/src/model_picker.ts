// A visitor's choices in addition to the text: the model (next to the page, elsewhere, or own files), the device and the precision.
import type { PipelineOptions, Source } from '../peruse/peruse.js';
import type { HubModel } from './curated.js';
import { find, make, makeButton } from './dom.js';
import { acceptDrops } from './drops.js';
import { bytes } from './format.js';

export interface Settings {
  source: Source;
  /** The task, if the model is one of the page's own. */
  task?: string;
  device: NonNullable<PipelineOptions['device']>;
  dtype: NonNullable<PipelineOptions['dtype']>;
}

/** A model next to the page. */
export interface BundledModel {
  readonly name: string;
  readonly folder: string;
  readonly task: string;
}

const kElsewhere = 'elsewhere';
const kOwn = 'own';

const kModels = new URL('../models/', import.meta.url);

function addressOf({ folder }: BundledModel): string {
  return new URL(`${folder}/`, kModels).href;
}

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
  private source_: Source | undefined;

  /** Calls `onChange` whenever the visitor has chosen something else, `onText` with a text that was dropped on the page. */
  constructor(
    panel: HTMLElement,
    private readonly bundled_: readonly BundledModel[],
    curated: readonly HubModel[],
    private readonly onChange_: () => void,
    onText: (text: string) => void,
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
    find(box, '.use', HTMLButtonElement).addEventListener('click', () => this.useAddress());
    this.address_.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.useAddress();
    });
    for (const input of this.own_.querySelectorAll('input')) {
      input.addEventListener('change', () => {
        if (input.files?.length) this.useFiles([...input.files]);
      });
    }
    acceptDrops(panel, {
      onModel: (files) => {
        this.model_.value = kOwn;
        this.openDrawer();
        this.useFiles(files);
      },
      onText,
      onRefused: (why) => {
        this.openDrawer();
        this.chosen_.textContent = why;
      },
    });
    this.takeModel();
  }

  /** A press names the model; another button loads it, because it is large. */
  private curatedButton({ id, megabytes, about }: HubModel): HTMLButtonElement {
    const size = bytes(1e6 * megabytes).replace('.0', '');
    const button = makeButton([make('code', '', id), ` ${size}, ${about}`], () => {
      this.address_.value = id;
      this.address_.focus();
    });
    return button;
  }

  private openDrawer(): void {
    this.model_.closest('details')?.setAttribute('open', '');
  }

  /** The choice, without a source while a model elsewhere, or files, are missing. */
  get settings(): Partial<Pick<Settings, 'source' | 'task'>> & Omit<Settings, 'source' | 'task'> {
    const task = this.bundled_.find((model) => addressOf(model) === this.model_.value)?.task;
    return {
      ...(task === undefined ? {} : { task }),
      ...(this.source_ === undefined ? {} : { source: this.source_ }),
      device: this.device_.value as Settings['device'],
      dtype: this.dtype_.value as Settings['dtype'],
    };
  }

  /** Takes one of the models next to the page, if it is not in use. */
  useBundled(model: BundledModel): void {
    if (this.model_.value === addressOf(model)) return;
    this.model_.value = addressOf(model);
    this.chooseModel();
  }

  /** Takes a model of the hub. */
  useHub(id: string): void {
    this.model_.value = kElsewhere;
    this.address_.value = id;
    this.openDrawer();
    this.chooseModel();
  }

  /** Brings the visitor to where the model is to be named. */
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

  private useAddress(): void {
    this.chooseModel();
    if (this.source_ === undefined) this.address_.focus();
  }

  private useFiles(files: File[]): void {
    this.files_ = files;
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
