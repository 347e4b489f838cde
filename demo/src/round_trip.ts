import { type RedactedEntity, restore } from '../peruse/peruse.js';
import { copyOnClick } from './copy.js';
import { find, letScroll } from './dom.js';

export interface PutBack {
  readonly placeholder: string;
  readonly words: string;
  readonly type: string;
}

/** A character that occurs in no text. It replaces a placeholder's number between the two calls below. */
const kSign = '\u{F0000}';

export class RoundTrip {
  private readonly answer_: HTMLTextAreaElement;
  private readonly restored_: HTMLElement;
  private readonly said_: HTMLElement;
  private readonly copy_: HTMLButtonElement;
  private mapping_: Readonly<Record<string, string>> = {};
  private types_ = new Map<string, string>();
  private offered_ = '';

  /** `mark` makes the element that replaces a placeholder. */
  constructor(
    private readonly box_: HTMLElement,
    private readonly mark_: (back: PutBack) => Node,
  ) {
    this.answer_ = find(box_, 'textarea', HTMLTextAreaElement);
    this.restored_ = find(box_, '.restored', HTMLElement);
    this.said_ = find(box_, '.unrestored', HTMLElement);
    this.copy_ = find(box_, '.copy-restored', HTMLButtonElement);
    this.answer_.addEventListener('input', (event) => {
      event.stopPropagation(); // Input in this field must not start a call of the model.
      this.show();
    });
    copyOnClick(this.copy_, () => restore(this.answer_.value, this.mapping_).text);
    this.show();
  }

  use(entities: readonly RedactedEntity[], mapping: Readonly<Record<string, string>>): void {
    this.mapping_ = mapping;
    this.types_ = new Map(entities.map(({ placeholder, type }) => [placeholder, type]));
    this.show();
  }

  offer(answer: string): void {
    this.offered_ = answer;
    this.answer_.value = answer;
  }

  /** Removes an example's answer, but not one that the visitor has pasted. */
  forgetOffer(): void {
    if (this.answer_.value === this.offered_) this.answer_.value = '';
    this.show();
  }

  private show(): void {
    const answer = this.answer_.value;
    const placeholders = Object.keys(this.mapping_);
    const signs = Object.fromEntries(placeholders.map((placeholder, index) => [placeholder, `${kSign}${index}${kSign}`]));
    const { text, unrestored } = restore(answer, signs);
    this.restored_.replaceChildren(
      ...text.split(kSign).map((part, index) => (index % 2 === 0 ? part : this.markOf(placeholders[Number(part)]!))),
    );
    this.restored_.hidden = this.copy_.hidden = answer.trim() === '';
    letScroll(this.box_);
    this.said_.textContent = unrestored.length > 0 ? `${unrestored.join(', ')}: the message has nothing for that.` : '';
  }

  private markOf(placeholder: string): Node {
    return this.mark_({ placeholder, words: this.mapping_[placeholder]!, type: this.types_.get(placeholder) ?? '' });
  }
}
