import type { Inspection, TextPair } from '../../peruse/peruse.js';
import { make, makeButton } from '../dom.js';
import { rove } from './roving.js';
import { attentionFrom, type Change, type Selection, tokenText, type View } from './selection.js';

export class TokenStrip implements View {
  readonly element = make('div', 'strip');
  private readonly buttons_: HTMLButtonElement[];

  constructor(
    private readonly inspection_: Inspection,
    input: string | TextPair,
    change: Change,
  ) {
    this.element.setAttribute('role', 'group');
    this.element.setAttribute('aria-label', 'Tokens');
    this.buttons_ = inspection_.tokens.map((token, index) => {
      const button = makeButton([tokenText(inspection_, input, index)], () => change({ token: index }));
      button.className = 'token';
      button.classList.toggle('special', token.special);
      const before = inspection_.tokens[index - 1];
      button.classList.toggle(
        'goes-on',
        !token.special && !before?.special && before?.end === token.start && before?.sequence === token.sequence,
      );
      button.title = `${token.token} \u00b7 id ${token.id}`;
      button.addEventListener('pointerenter', () => change({ token: index }));
      button.addEventListener('focus', () => change({ token: index }));
      return button;
    });
    this.element.append(...this.buttons_);
    rove(this.element, this.buttons_);
  }

  update(selection: Selection): void {
    const weights = attentionFrom(this.inspection_, selection);
    const most = Math.max(...weights, 1e-6);
    for (const [index, button] of this.buttons_.entries()) {
      button.style.setProperty('--weight', String(Math.sqrt((weights[index] ?? 0) / most)));
      button.setAttribute('aria-pressed', String(index === selection.token));
      button.classList.toggle('looked-at', index === selection.other);
    }
  }
}
