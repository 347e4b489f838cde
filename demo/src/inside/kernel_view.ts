// ConvBERT's span kernel at the chosen token: a bar under each word that it weighs.
import type { Inspection, TextPair } from '../../peruse/dist/index.js';
import { make } from '../dom.js';
import { shortPercent } from '../format.js';
import { tokenText, type Look, type View } from './look.js';

export class KernelView implements View {
  readonly element = make('section', 'kernels');
  private readonly title_ = make('h2', '');
  private readonly taps_ = make('ol', 'taps');

  constructor(private readonly inspection_: Inspection, private readonly input_: string | TextPair) {
    this.element.append(this.title_, this.taps_, make('p', 'hint', 'The kernel that this head\u2019s convolution makes for the word in the middle, from the span around it.'));
  }

  update({ layer, head, token }: Look): void {
    const kernels = this.inspection_.span_kernels?.[layer];
    const [, heads = 0, size = 0] = kernels?.dims ?? [];
    if (!kernels || heads === 0) return;
    const own = Math.min(head, heads - 1);
    const start = (token * heads + own) * size;
    const weights = kernels.data.subarray(start, start + size);
    const most = weights.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-6);
    this.title_.textContent = `Span kernel, layer ${layer + 1}, head ${own + 1}`;
    this.taps_.replaceChildren(...Array.from(weights, (weight, tap) => {
      const index = token + tap - (size - 1) / 2;
      const word = tokenText(this.inspection_, this.input_, index);
      const bar = make('span', 'tap-bar');
      bar.style.setProperty('--weight', String(Math.abs(weight) / most));
      const column = make('span', 'tap-column', bar);
      column.setAttribute('aria-hidden', 'true');
      const item = make('li', index === token ? 'middle' : '', make('span', 'tap-word', word || '\u2013'), column, make('span', 'score', shortPercent(weight)));
      return item;
    }));
  }
}
