// The first six seconds: the example types itself, its private details fly into the vault, the redacted message goes out, and the names fly
// back into the answer. All of it is the result of the real redactor, which is in the page beneath; this file only delays what one sees of it.
import { find, make } from './dom.js';

const kTyping = 1600; // ms for the whole message
const kFlight = 620; // ms
const kBetween = 150; // ms between two flights
const kOut = 550; // ms until the redacted message has gone out
const kThinking = 450; // ms before the answer
const kEnding = ['keydown', 'pointerdown', 'wheel', 'scroll', 'resize', 'hashchange', 'popstate'] as const;
const kPlayed = 'peruse-arrival';

/** Plays once for each browser tab, unless the visitor wants less motion. Any key, tap or scroll ends it. */
export async function playArrival(panel: HTMLElement, firstAnswer: Promise<void>): Promise<void> {
  if (isUnwanted(panel)) return showNext(panel);
  const stage = new Stage(panel);
  await stage.play(firstAnswer);
  stage.end();
  showNext(panel);
  await stage.tapEnds();
  if (!stage.isTouched) putCaret(panel);
}

/** Unless the visitor has gone elsewhere. */
function putCaret(panel: HTMLElement): void {
  if (document.activeElement === document.body && !panel.hidden)
    find(panel, '[name=text]', HTMLTextAreaElement).focus({ preventScroll: true });
}

function isUnwanted(panel: HTMLElement): boolean {
  if (panel.hidden || location.hash.includes('?') || matchMedia('(prefers-reduced-motion: reduce)').matches) return true;
  if (document.visibilityState !== 'visible' || scrollY > 0) return true;
  try {
    if (sessionStorage.getItem(kPlayed) !== null) return true;
    sessionStorage.setItem(kPlayed, '1');
  } catch {
    // Without storage it plays again after a reload.
  }
  return false;
}

/** The message is the visitor's turn now; a quiet hint leads on to the tab that learns. */
function showNext(panel: HTMLElement): void {
  find(panel, '.actions .hint', HTMLElement).textContent = 'Now yours: just type';
  find(panel, '.lead-on', HTMLElement).classList.add('is-shown');
}

class Stage {
  private readonly layer_ = make('div', 'arrival');
  private readonly typed_ = make('textarea', 'arrival-typed');
  private readonly letters_: HTMLElement[];
  private readonly field_: HTMLTextAreaElement;
  private isOver_ = false;
  private tapped_: Promise<void> | undefined;
  /** Whether a finger has ended it: a caret would open the keyboard over the answer. */
  isTouched = false;
  private stop_: () => void = () => {};
  private readonly stopped_ = new Promise<void>((done) => {
    this.stop_ = done;
  });

  constructor(private readonly panel_: HTMLElement) {
    this.field_ = find(panel_, '[name=text]', HTMLTextAreaElement);
    const paper = make('div', 'arrival-paper'); // Invisible: it says where each letter is.
    const { left, top, width, height } = this.field_.getBoundingClientRect();
    for (const { style } of [paper, this.typed_])
      Object.assign(style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    this.typed_.tabIndex = -1;
    this.typed_.readOnly = true;
    this.letters_ = [...this.field_.value].map((letter) => make('span', '', letter));
    paper.append(...this.letters_);
    this.layer_.setAttribute('aria-hidden', 'true');
    this.layer_.append(paper, this.typed_);
    document.body.append(this.layer_);
    panel_.classList.add('is-arriving');
    for (const event of kEnding) addEventListener(event, this.over, { capture: true, passive: true });
  }

  private readonly over = (event: Event) => {
    this.isOver_ = true;
    if (event instanceof KeyboardEvent && event.key !== 'Tab') putCaret(this.panel_); // At once: what the key writes arrives in the field.
    if (event instanceof PointerEvent) {
      this.isTouched = event.pointerType === 'touch';
      this.tapped_ = new Promise((done) => {
        for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(done), { once: true });
      });
    }
    this.stop_();
  };

  /** Resolves when the focus is where a tap puts it. */
  async tapEnds(): Promise<void> {
    await this.tapped_;
  }

  async play(firstAnswer: Promise<void>): Promise<void> {
    await this.type();
    await Promise.race([firstAnswer, this.stopped_]);
    if (this.isOver_ || this.panel_.hidden) return;
    await this.intoVault();
    this.panel_.classList.add('has-sent');
    await this.pause(kOut + kThinking);
    this.panel_.classList.add('has-answer');
    await this.outOfVault();
    await this.pause(kBetween);
  }

  end(): void {
    for (const event of kEnding) removeEventListener(event, this.over, { capture: true });
    this.panel_.classList.remove('is-arriving', 'has-sent', 'has-answer');
    for (const row of this.panel_.querySelectorAll('.has-landed')) row.classList.remove('has-landed');
    this.layer_.remove();
  }

  private pause(milliseconds: number): Promise<unknown> {
    return Promise.race([new Promise((done) => setTimeout(done, milliseconds)), this.stopped_]);
  }

  private async type(): Promise<void> {
    const start = performance.now();
    const message = this.field_.value;
    while (this.typed_.value.length < message.length && !this.isOver_) {
      await new Promise(requestAnimationFrame);
      this.typed_.value = message.slice(0, Math.ceil((message.length * (performance.now() - start)) / kTyping));
    }
  }

  private async intoVault(): Promise<void> {
    const rows = [...this.panel_.querySelectorAll<HTMLElement>('.vault li')];
    const flights = rows.map(async (row, index) => {
      const label = row.querySelector('.label');
      const at = label ? this.field_.value.indexOf(label.textContent ?? '') : -1;
      await this.pause(index * kBetween);
      if (label && at >= 0 && !this.isOver_) {
        const from = this.cover(at, at + (label.textContent ?? '').length);
        if (from) await this.fly(label, from, label.getBoundingClientRect());
      }
      row.classList.add('has-landed');
    });
    await Promise.all(flights);
  }

  /** Puts a bar over the letters, one for each line, and returns where the first of them is. */
  private cover(start: number, end: number): DOMRect | undefined {
    const range = document.createRange();
    range.setStartBefore(this.letters_[start]!);
    range.setEndAfter(this.letters_[end - 1]!);
    const lines = new Map([...range.getClientRects()].map(({ top }) => [top, { left: Infinity, right: -Infinity, height: 0 }]));
    for (const { left, right, top, height } of range.getClientRects()) {
      const line = lines.get(top)!;
      lines.set(top, { left: Math.min(line.left, left), right: Math.max(line.right, right), height });
    }
    for (const [top, { left, right, height }] of lines) {
      const bar = make('div', 'arrival-bar');
      Object.assign(bar.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${height}px` });
      this.layer_.append(bar);
    }
    return range.getClientRects()[0];
  }

  private async outOfVault(): Promise<void> {
    const marks = [...this.panel_.querySelectorAll<HTMLElement>('.restored mark')];
    const flights = marks.map(async (mark, index) => {
      const home = [...this.panel_.querySelectorAll('.vault .label')].find((label) => label.textContent === mark.textContent);
      await this.pause(index * kBetween);
      if (home && !this.isOver_) await this.fly(mark, home.getBoundingClientRect(), mark.getBoundingClientRect());
      mark.classList.add('has-landed');
    });
    await Promise.all(flights);
  }

  /** Flies a copy of the words from one place to another. */
  private async fly(words: Element, from: DOMRect, to: DOMRect): Promise<void> {
    const copy = make('mark', 'arrival-flight', words.textContent ?? '');
    Object.assign(copy.style, { left: `${to.left}px`, top: `${to.top}px` });
    this.layer_.append(copy);
    const [x, y] = [from.left - to.left, from.top - to.top];
    const flight = copy.animate(
      [
        { transform: `translate(${x}px, ${y}px)` },
        { transform: `translate(${x / 2}px, ${y / 2 - 30}px) scale(1.08)`, offset: 0.5 },
        { transform: 'none' },
      ],
      { duration: kFlight, easing: 'ease-in-out' },
    );
    await Promise.race([flight.finished, this.stopped_]);
    copy.remove();
  }
}
