// Shows the words of a text, which the visitor can hide by a click, and the model's answer without them.
import { make, makeButton } from '../dom.js';

const kMostWords = 120;
const kMostLetters = 300; // of an answer

export class HideView {
  readonly element = make('div', 'hide');
  private readonly hidden_ = new Set<number>();
  private readonly said_ = make('p', 'moved');
  private readonly words_: readonly { start: number; end: number }[];
  private asked_ = 0;

  constructor(
    private readonly text_: string,
    private readonly answer_: (text: string) => Promise<string>,
  ) {
    this.words_ = [...text_.matchAll(/\S+/g)]
      .slice(0, kMostWords)
      .map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
    const buttons = this.words_.map(({ start, end }, index) => {
      const button = makeButton([text_.slice(start, end)], () => {
        if (!this.hidden_.delete(index)) this.hidden_.add(index);
        button.setAttribute('aria-pressed', String(this.hidden_.has(index)));
        void this.ask();
      });
      button.className = 'token hides';
      button.setAttribute('aria-pressed', 'false');
      return button;
    });
    const group = make('div', 'strip', ...buttons);
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', 'Words to hide');
    this.said_.setAttribute('role', 'status');
    this.element.append(group, this.said_);
    void this.ask();
  }

  private async ask(): Promise<void> {
    const number = ++this.asked_;
    let [text, end] = ['', 0];
    for (const [index, word] of this.words_.entries()) {
      if (!this.hidden_.has(index)) continue;
      text += this.text_.slice(end, word.start);
      end = word.end;
    }
    text = (text + this.text_.slice(end)).trim();
    const said = text === '' ? 'Nothing is left to read.' : await this.answer_(text).catch(() => 'This can\u2019t be read.');
    if (number === this.asked_) this.said_.textContent = `${this.hidden_.size === 0 ? 'All words' : 'Without them'}: ${shorten(said)}`;
  }
}

export function shorten(text: string): string {
  return text.length > kMostLetters ? `${text.slice(0, kMostLetters)}\u2026` : text;
}
