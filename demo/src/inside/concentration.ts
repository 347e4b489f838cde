// How much of each head's attention stays near the diagonal, by layer: a dot for every head.
import { make } from '../dom.js';
import { percent } from '../format.js';

export class Concentration {
  readonly element: HTMLElement;

  /** `[layer][head]`: the weight within four tokens of the diagonal, divided by the remaining weight. */
  constructor(concentration: readonly (readonly number[])[]) {
    const rows = concentration.map((heads, layer) => {
      const near = heads.map((ratio) => (ratio === Infinity ? 1 : ratio / (1 + ratio)));
      const track = make(
        'span',
        'dots',
        ...near.map((share) => {
          const dot = make('span', 'dot');
          dot.style.setProperty('--share', String(share));
          return dot;
        }),
      );
      track.setAttribute('aria-hidden', 'true');
      const mean = near.reduce((sum, share) => sum + share, 0) / near.length;
      return make('li', '', make('span', 'label', `Layer ${layer + 1}`), track, make('span', 'score', percent(mean)));
    });
    this.element = make(
      'section',
      'concentration',
      make('h3', '', 'Diagonal concentration'),
      make('ul', 'bars', ...rows),
      make('p', 'hint', 'The share of attention that goes no further than four tokens; a dot for every head, the mean beside them.'),
    );
  }
}
