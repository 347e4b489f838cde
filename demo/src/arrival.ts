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
  const watched = await stage.play(firstAnswer);
  stage.end();
  showNext(panel);
  if (watched && matchMedia('(hover: hover)').matches && document.activeElement === document.body)
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
  private readonly letters_: HTMLElement[];
  private readonly field_: HTMLTextAreaElement;
  private isOver_ = false;
  private stop_: () => void = () => {};
  private readonly stopped_ = new Promise<void>((done) => {
    this.stop_ = done;
  });

  constructor(private readonly panel_: HTMLElement) {
    this.field_ = find(panel_, '[name=text]', HTMLTextAreaElement);
    const paper = make('div', 'arrival-paper');
    const { left, top, width, height } = this.field_.getBoundingClientRect();
    Object.assign(paper.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    this.letters_ = [...this.field_.value].map((letter) => make('span', '', letter));
    paper.append(...this.letters_);
    this.layer_.setAttribute('aria-hidden', 'true');
    this.layer_.append(paper);
    document.body.append(this.layer_);
    panel_.classList.add('is-arriving');
    for (const event of kEnding) addEventListener(event, this.over, { capture: true, passive: true });
  }

  private readonly over = () => {
    this.isOver_ = true;
    this.stop_();
  };

  /** Returns whether the visitor watched all of it. */
  async play(firstAnswer: Promise<void>): Promise<boolean> {
    await this.type();
    await Promise.race([firstAnswer, this.stopped_]);
    if (this.isOver_ || this.panel_.hidden) return false;
    await this.intoVault();
    this.panel_.classList.add('has-sent');
    await this.pause(kOut + kThinking);
    this.panel_.classList.add('has-answer');
    await this.outOfVault();
    await this.pause(kBetween);
    return !this.isOver_;
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
    let shown = 0;
    while (shown < this.letters_.length && !this.isOver_) {
      await new Promise(requestAnimationFrame);
      const due = Math.ceil((this.letters_.length * (performance.now() - start)) / kTyping);
      for (; shown < Math.min(due, this.letters_.length); shown++) this.letters_[shown]!.className = 'is-typed';
    }
  }

  private async intoVault(): Promise<void> {
    const rows = [...this.panel_.querySelectorAll<HTMLElement>('.vault li')];
    const flights = rows.map(async (row, index) => {
      const label = row.querySelector('.label');
      const at = label ? this.field_.value.indexOf(label.textContent ?? '') : -1;
      await this.pause(index * kBetween);
      if (label && at >= 0 && !this.isOver_) {
        const words = this.letters_.slice(at, at + (label.textContent ?? '').length);
        const from = boxOf(words);
        for (const letter of words) letter.classList.add('is-gone');
        await this.fly(label, from, label.getBoundingClientRect());
      }
      row.classList.add('has-landed');
    });
    await Promise.all(flights);
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

/** The place of the first line of some letters. */
function boxOf(letters: readonly HTMLElement[]): DOMRect {
  return letters[0]!.getBoundingClientRect();
}
