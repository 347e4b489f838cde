// What a visitor may choose besides the text: the model (one beside the page, one elsewhere, files of one's own), the device and
// the precision.
import type { PipelineOptions, Source } from '../peruse/dist/index.js';
import { acceptDrops } from './drops.js';
import { find, make } from './dom.js';

export interface Settings {
  source: Source;
  device: NonNullable<PipelineOptions['device']>;
  dtype: NonNullable<PipelineOptions['dtype']>;
}

/** A model that lies beside the page. */
export interface BundledModel {
  readonly name: string;
  readonly folder: string;
}

const kModels = new URL('../models/', import.meta.url);

export class ModelPicker {
  private readonly model_: HTMLSelectElement;
  private readonly device_: HTMLSelectElement;
  private readonly dtype_: HTMLSelectElement;
  private readonly elsewhere_: HTMLElement;
  private readonly address_: HTMLInputElement;
  private readonly own_: HTMLElement;
  private readonly chosen_: HTMLElement;
  private files_: File[] | undefined;
  private source_: Source | undefined;

  /** Calls `onChange` whenever the visitor has chosen something else. */
  constructor(panel: HTMLElement, bundled: readonly BundledModel[], private readonly onChange_: () => void) {
    const box = find(panel, '.model', HTMLElement);
    this.model_ = find(box, '[name=model]', HTMLSelectElement);
    this.device_ = find(box, '[name=device]', HTMLSelectElement);
    this.dtype_ = find(box, '[name=dtype]', HTMLSelectElement);
    this.elsewhere_ = find(box, '.elsewhere', HTMLElement);
    this.address_ = find(box, '[name=address]', HTMLInputElement);
    this.own_ = find(box, '.own', HTMLElement);
    this.chosen_ = find(box, '.chosen', HTMLElement);

    for (const { name, folder } of bundled) this.model_.append(new Option(name, new URL(`${folder}/`, kModels).href));
    this.model_.append(new Option('From the hub, or an address\u2026', 'elsewhere'), new Option('Files of your own\u2026', 'own'));
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
    acceptDrops(panel, (files) => {
      this.model_.value = 'own';
      this.useFiles(files);
    });
    this.takeModel();
  }

  /** What is chosen; no source where a model elsewhere, or files, are still to be named. */
  get settings(): Partial<Pick<Settings, 'source'>> & Omit<Settings, 'source'> {
    return {
      ...(this.source_ === undefined ? {} : { source: this.source_ }),
      device: this.device_.value as Settings['device'],
      dtype: this.dtype_.value as Settings['dtype'],
    };
  }

  /** Brings the visitor to where the model is to be named. */
  askForModel(): void {
    (this.elsewhere_.hidden ? find(this.own_, 'input', HTMLInputElement) : this.address_).focus();
  }

  private chooseModel(): void {
    this.takeModel();
    this.onChange_();
  }

  private takeModel(): void {
    const choice = this.model_.value;
    this.elsewhere_.hidden = choice !== 'elsewhere';
    this.own_.hidden = choice !== 'own';
    this.source_ = choice === 'elsewhere' ? this.address_.value.trim() || undefined : choice === 'own' ? this.files_ : choice;
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
    const named = typeof this.source_ === 'string' ? [make('code', '', this.source_)] : [(this.files_ ?? []).map((file) => file.name).join(', ')];
    const isBundled = this.elsewhere_.hidden && this.own_.hidden;
    this.chosen_.replaceChildren(...(isBundled ? [] : this.source_ === undefined ? ['No model is named yet.'] : ['In use: ', ...named, '.']));
  }
}
