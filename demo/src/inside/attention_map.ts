// One head's map: a row for each token that attends, a column for each that is attended to.
import type { AttentionTerms, Inspection, TextPair } from '../../peruse/peruse.js';
import { make, makeButton } from '../dom.js';
import { drawn, paint, paintSigned } from './heat.js';
import { rove } from './roving.js';
import { type Change, headMap, type Selection, tokenText, type View } from './selection.js';

const kMostLabelled = 40; // tokens; with more, the words would be too small to read

type Term = keyof AttentionTerms;
const kTerms: readonly Term[] = ['content_to_content', 'content_to_position', 'position_to_content'];
const kSaid: Record<Term, string> = {
  content_to_content: 'what the two words say to each other',
  content_to_position: 'what the word that looks says to the distance',
  position_to_content: 'what the distance says to the word that is looked at',
};
const kWeights = 'Each row shows how much its word looks at the word of each column: the stronger the colour, the more.';

export class AttentionMap implements View {
  readonly element = make('div', 'attention');
  private readonly canvas_ = make('canvas', 'map');
  private readonly row_ = make('div', 'map-row');
  private readonly column_ = make('div', 'map-column');
  private readonly title_ = make('h3', '');
  private readonly plot_: HTMLElement;
  private readonly hint_ = make('p', 'hint', kWeights);
  private readonly readout_ = make('p', 'term-said');
  private layer_ = -1;
  private head_ = -1;
  private term_: Term | undefined; // undefined shows the attention, which is computed from all three terms
  private scores_: Float32Array | undefined;

  constructor(
    private readonly inspection_: Inspection,
    private readonly input_: string | TextPair,
    change: Change,
    private readonly terms_?: (layer: number) => Promise<AttentionTerms | undefined>,
  ) {
    const size = inspection_.tokens.length;
    this.plot_ = make('div', 'plot', this.canvas_, this.row_, this.column_);
    this.canvas_.setAttribute('role', 'img');
    const box = make('div', 'map-box');
    if (size <= kMostLabelled) box.append(words(inspection_, input_, 'down'), words(inspection_, input_, 'across'));
    else box.append(ticks(size, 'down'), ticks(size, 'across'));
    box.append(this.plot_);
    box.style.setProperty('--tokens', String(size));
    this.readout_.hidden = true;
    this.element.append(this.title_, ...(terms_ ? [this.switches()] : []), box, this.hint_, this.readout_);
    drawn(this.canvas_, () => this.draw());
    const point = (event: PointerEvent) => {
      const cell = (at: number, length: number) => Math.max(0, Math.min(size - 1, Math.floor((at / length) * size)));
      change({ token: cell(event.offsetY, this.canvas_.clientHeight), other: cell(event.offsetX, this.canvas_.clientWidth) });
    };
    for (const event of ['pointermove', 'pointerdown'] as const) this.canvas_.addEventListener(event, point); // A tap does not move.
  }

  update({ layer, head, token, other }: Selection): void {
    if (layer !== this.layer_ || head !== this.head_) {
      [this.layer_, this.head_] = [layer, head];
      this.title_.textContent = `Layer ${layer + 1}, head ${head + 1}`;
      void this.showTerm(this.term_);
    }
    this.row_.style.setProperty('--at', String(token));
    this.column_.hidden = other === undefined;
    this.column_.style.setProperty('--at', String(other ?? 0));
    this.sayScore(token, other);
  }

  private switches(): HTMLElement {
    const all: (Term | undefined)[] = [undefined, ...kTerms];
    const buttons = all.map((term) =>
      makeButton([term?.replaceAll('_', ' ') ?? 'attention'], () => {
        for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(all[index] === term));
        void this.showTerm(term);
      }),
    );
    for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(index === 0));
    const group = make('div', 'terms', ...buttons);
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', 'What the map shows');
    rove(group, buttons);
    return group;
  }

  private async showTerm(term: Term | undefined): Promise<void> {
    const layer = this.layer_;
    this.term_ = term;
    const terms = term === undefined ? undefined : await this.terms_?.(layer);
    if (this.term_ !== term || this.layer_ !== layer) return; // The visitor has chosen something else meanwhile.
    const size = this.inspection_.tokens.length ** 2;
    const scores = term && terms?.[term]?.data;
    this.scores_ = scores?.subarray(this.head_ * size, (this.head_ + 1) * size);
    this.hint_.textContent =
      term === undefined
        ? kWeights
        : scores === undefined
          ? 'This model has no such term.'
          : `Scores before the softmax: ${kSaid[term]}. One colour adds to the attention, the other takes away; a step of 1 is a factor of e.`;
    const what = term === undefined ? 'Attention map' : `Map of ${term.replaceAll('_', ' ')}`;
    this.canvas_.setAttribute('aria-label', `${what} of layer ${layer + 1}, head ${this.head_ + 1}`);
    this.readout_.hidden = this.scores_ === undefined;
    this.readout_.textContent = '';
    this.draw();
  }

  private sayScore(token: number, other: number | undefined): void {
    if (this.scores_ === undefined || other === undefined) return;
    const word = (index: number) => `\u201c${tokenText(this.inspection_, this.input_, index)}\u201d`;
    const score = this.scores_[token * this.inspection_.tokens.length + other] ?? 0;
    this.readout_.textContent = `${this.term_?.replaceAll('_', ' ')}: from ${word(token)} to ${word(other)} ${score.toFixed(2)}.`;
  }

  private draw(): void {
    const tokens = this.inspection_.tokens.length;
    if (this.term_ !== undefined) paintSigned(this.canvas_, this.scores_ ?? new Float32Array(tokens ** 2), tokens, tokens);
    else paint(this.canvas_, headMap(this.inspection_, this.layer_, this.head_), this.inspection_.tokens.length);
  }
}

/** The tokens along one side. Screen readers get them from TokenStrip instead. */
function words(inspection: Inspection, input: string | TextPair, side: 'down' | 'across'): HTMLElement {
  const all = inspection.tokens.map((_, index) => make('span', '', tokenText(inspection, input, index)));
  const element = make('div', `map-words ${side}`, ...all);
  element.setAttribute('aria-hidden', 'true');
  return element;
}

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
