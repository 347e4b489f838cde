// One head's map: a row for each token that looks, a column for each that is looked at.
import type { Inspection, TextPair } from '../../peruse/peruse.js';
import { make } from '../dom.js';
import { onColourChange, paint } from './heat.js';
import { headMap, tokenText, type Change, type Look, type View } from './look.js';

const kMostLabelled = 40; // tokens; beyond, the words would be too small to read

export class AttentionMap implements View {
  readonly element = make('div', 'attention');
  private readonly canvas_ = make('canvas', 'map');
  private readonly row_ = make('div', 'map-row');
  private readonly column_ = make('div', 'map-column');
  private readonly title_ = make('h3', '');
  private readonly plot_: HTMLElement;
  private layer_ = -1;
  private head_ = -1;

  constructor(
    private readonly inspection_: Inspection,
    input: string | TextPair,
    change: Change,
  ) {
    const size = inspection_.tokens.length;
    this.plot_ = make('div', 'plot', this.canvas_, this.row_, this.column_);
    this.canvas_.setAttribute('role', 'img');
    const box = make('div', 'map-box');
    if (size <= kMostLabelled) box.append(words(inspection_, input, 'down'), words(inspection_, input, 'across'));
    else box.append(ticks(size, 'down'), ticks(size, 'across'));
    box.append(this.plot_);
    box.style.setProperty('--tokens', String(size));
    this.element.append(this.title_, box, make('p', 'hint', 'Rows look, columns are looked at; the stronger the colour, the more.'));
    onColourChange(this.canvas_, () => this.draw());
    this.canvas_.addEventListener('pointermove', (event) => {
      const cell = (at: number, length: number) => Math.max(0, Math.min(size - 1, Math.floor((at / length) * size)));
      change({ token: cell(event.offsetY, this.canvas_.clientHeight), other: cell(event.offsetX, this.canvas_.clientWidth) });
    });
  }

  update({ layer, head, token, other }: Look): void {
    if (layer !== this.layer_ || head !== this.head_) {
      [this.layer_, this.head_] = [layer, head];
      this.title_.textContent = `Layer ${layer + 1}, head ${head + 1}`;
      this.canvas_.setAttribute('aria-label', `Attention map of layer ${layer + 1}, head ${head + 1}`);
      this.draw();
    }
    this.row_.style.setProperty('--at', String(token));
    this.column_.hidden = other === undefined;
    this.column_.style.setProperty('--at', String(other ?? 0));
  }

  private draw(): void {
    paint(this.canvas_, headMap(this.inspection_, this.layer_, this.head_), this.inspection_.tokens.length);
  }
}

/** The tokens along one side; screen readers have them in the strip. */
function words(inspection: Inspection, input: string | TextPair, side: 'down' | 'across'): HTMLElement {
  const all = inspection.tokens.map((_, index) => make('span', '', tokenText(inspection, input, index)));
  const element = make('div', `map-words ${side}`, ...all);
  element.setAttribute('aria-hidden', 'true');
  return element;
}

/** Every twentieth token's number, where words have no room. */
function ticks(size: number, side: 'down' | 'across'): HTMLElement {
  const every = 20;
  const marks = Array.from({ length: Math.floor(size / every) }, (_, index) => {
    const mark = make('span', 'tick', String((index + 1) * every));
    mark.style.setProperty('--at', String((index + 1) * every));
    return mark;
  });
  const element = make('div', `map-ticks ${side}`, ...marks);
  element.setAttribute('aria-hidden', 'true');
  return element;
}
