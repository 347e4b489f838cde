import type { Inspection } from '../../peruse/peruse.js';
import { make } from '../dom.js';
import type { Input } from './reading.js';
import { headMap, type Selection, tokenText, type View } from './selection.js';

export const kMostForArcs = 24; // tokens
const kLeast = 0.12; // Smallest share of a token's attention for which an arc is drawn.
const kStep = 56; // Most pixels between two tokens.
const kLying = 40; // Least pixels for a word that lies; with fewer, words stand.
const kHeight = 150;
const kWords = 70; // Height of words that stand.
const kSvg = 'http://www.w3.org/2000/svg';

/** Draws an arc from each token to the tokens that one head attends to. */
export class Arcs implements View {
  readonly element = make('div', 'arcs');
  private readonly svg_ = document.createElementNS(kSvg, 'svg');
  private layer_ = -1;
  private head_ = -1;
  private token_ = -1;
  private step_ = kStep;

  constructor(
    private readonly inspection_: Inspection,
    private readonly input_: Input,
  ) {
    this.svg_.setAttribute('role', 'img');
    this.element.append(this.svg_);
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  update({ layer, head, token }: Selection): void {
    if (layer !== this.layer_ || head !== this.head_) {
      [this.layer_, this.head_] = [layer, head];
      this.draw();
    }
    this.token_ = token;
    this.markChosen();
  }

  private markChosen(): void {
    const token = this.token_;
    for (const path of this.svg_.querySelectorAll('path')) {
      const isChosen = path.dataset.from === String(token);
      path.classList.toggle('from-chosen', isChosen);
      if (isChosen) this.svg_.append(path); // In front: an arc back is at the same place.
    }
  }

  /** Keeps all arcs inside the frame. */
  private fit(): void {
    const count = this.inspection_.tokens.length;
    const step = Math.min(kStep, this.element.clientWidth / count);
    if (step <= 0 || (step === this.step_ && this.svg_.hasAttribute('viewBox'))) return;
    this.step_ = step;
    const [width, height] = [step * count, kHeight + (step < kLying ? kWords : 26)];
    this.svg_.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg_.style.width = `${width}px`;
    this.svg_.style.height = `${height}px`;
    if (this.layer_ >= 0) this.draw();
  }

  private draw(): void {
    const { tokens } = this.inspection_;
    const map = headMap(this.inspection_, this.layer_, this.head_);
    const parts: Element[] = tokens.map((_, index) => {
      const word = document.createElementNS(kSvg, 'text');
      const x = this.step_ * (index + 0.5);
      if (this.step_ < kLying) {
        word.setAttribute('class', 'stands');
        word.setAttribute('transform', `translate(${x + 4} ${kHeight + 8}) rotate(-90)`);
      } else {
        word.setAttribute('x', String(x));
        word.setAttribute('y', String(kHeight + 18));
      }
      const text = tokenText(this.inspection_, this.input_, index);
      word.textContent = text.length > 8 ? `${text.slice(0, 7)}\u2026` : text;
      return word;
    });
    for (const from of tokens.keys()) {
      for (const to of tokens.keys()) {
        const weight = map[from * tokens.length + to] ?? 0;
        if (from === to || weight < kLeast || tokens[from]?.special || tokens[to]?.special) continue;
        parts.push(arc(from, to, weight, this.step_));
      }
    }
    this.svg_.replaceChildren(...parts);
    this.markChosen();
    this.svg_.setAttribute(
      'aria-label',
      `Where words look, layer ${this.layer_ + 1}, head ${this.head_ + 1}; the map below has the figures`,
    );
  }
}

function arc(from: number, to: number, weight: number, step: number): SVGPathElement {
  const [x1, x2] = [step * (from + 0.5), step * (to + 0.5)];
  const radius = Math.abs(x2 - x1) / 2;
  const path = document.createElementNS(kSvg, 'path');
  path.setAttribute('d', `M ${x1} ${kHeight} A ${radius} ${Math.min(radius, kHeight - 8)} 0 0 ${x2 > x1 ? 1 : 0} ${x2} ${kHeight}`);
  path.setAttribute('stroke-width', String(1 + 6 * weight));
  path.setAttribute('opacity', String(0.25 + 0.75 * weight));
  path.dataset.from = String(from);
  return path;
}
