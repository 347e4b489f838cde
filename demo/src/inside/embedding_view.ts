// The embeddings: a row of colours for each token, and which other tokens have a row like the chosen one's.
import type { Inspection } from '../../peruse/peruse.js';
import { bars } from '../bars.js';
import { make } from '../dom.js';
import { drawn, paintSigned } from './heat.js';
import type { Input } from './reading.js';
import { type Selection, tokenText, type View } from './selection.js';

const kNearest = 5;

export class EmbeddingView implements View {
  readonly element = make('div', 'embedding');
  private readonly title_ = make('h3', '');
  private readonly list_ = make('ul', 'bars');
  private readonly row_ = make('div', 'map-row');
  private readonly width_: number;

  constructor(
    private readonly inspection_: Inspection,
    private readonly input_: Input,
  ) {
    const states = inspection_.hidden_states?.[0];
    const [rows = 0, width = 0] = states?.dims ?? [];
    this.width_ = width;
    const canvas = make('canvas', 'vectors');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `The vectors of ${rows} tokens, ${width} numbers each`);
    drawn(canvas, () => states && paintSigned(canvas, states.data, rows, width));
    const plot = make('div', 'plot', canvas, this.row_);
    const box = make('div', 'vectors-box', plot, make('p', 'axis', make('span', '', '1'), make('span', '', `${width} numbers`)));
    box.style.setProperty('--tokens', String(rows));
    this.element.append(box, this.title_, this.list_);
  }

  update({ token }: Selection): void {
    this.row_.style.setProperty('--at', String(token));
    const near = this.inspection_.tokens
      .map(({ special }, index) => ({ index, special, score: this.cosine(token, index) }))
      .filter(({ index, special }) => index !== token && !special)
      .sort((a, b) => b.score - a.score)
      .slice(0, kNearest);
    this.title_.textContent = `Nearest to \u201c${tokenText(this.inspection_, this.input_, token)}\u201d in this text`;
    this.list_.replaceChildren(
      ...bars(near.map(({ index, score }) => ({ label: tokenText(this.inspection_, this.input_, index), score: Math.max(0, score) }))),
    );
  }

  private cosine(a: number, b: number): number {
    const data = this.inspection_.hidden_states?.[0]?.data ?? new Float32Array();
    let [dot, ofA, ofB] = [0, 0, 0];
    for (let at = 0; at < this.width_; at++) {
      const [x, y] = [data[a * this.width_ + at] ?? 0, data[b * this.width_ + at] ?? 0];
      dot += x * y;
      ofA += x * x;
      ofB += y * y;
    }
    return dot / Math.sqrt(ofA * ofB || 1);
  }
}
