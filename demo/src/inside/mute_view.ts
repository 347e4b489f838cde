// Heads that the visitor can mute by a click, and how the model's answer changes.
import type { Inspection } from '../../peruse/peruse.js';
import { make, makeButton } from '../dom.js';
import { count } from '../format.js';
import { shorten } from './hide_view.js';
import type { Selection, View } from './selection.js';

export type HeadMask = number[][];

export class MuteView implements View {
  readonly element = make('div', 'mute');
  private readonly mask_: HeadMask;
  private readonly button_: HTMLButtonElement;
  private readonly all_: HTMLButtonElement;
  private readonly said_ = make('p', 'moved');
  private chosen_ = { layer: 0, head: 0 };
  private asked_ = 0;

  /** `answer` describes the model's answer with these heads; `marked` is called for every change. */
  constructor(
    inspection: Inspection,
    private readonly answer_: (mask: HeadMask | undefined) => Promise<string>,
    private readonly marked_: (layer: number, head: number, isMuted: boolean) => void,
  ) {
    this.mask_ = (inspection.attentions ?? []).map(({ dims }) => new Array<number>(dims[0] ?? 0).fill(1));
    this.button_ = makeButton(['Mute this head'], () => this.toggle());
    this.all_ = makeButton(['Let all speak'], () => this.unmuteAll());
    this.all_.hidden = true;
    this.said_.setAttribute('role', 'status');
    this.element.append(make('p', 'actions', this.button_, this.all_), this.said_);
    void this.ask();
  }

  update({ layer, head }: Selection): void {
    this.chosen_ = { layer, head };
    const isMuted = this.mask_[layer]?.[head] === 0;
    this.button_.setAttribute('aria-pressed', String(isMuted));
  }

  private toggle(): void {
    const { layer, head } = this.chosen_;
    const heads = this.mask_[layer];
    if (heads === undefined) return;
    heads[head] = heads[head] === 0 ? 1 : 0;
    this.changed(layer, head);
  }

  private unmuteAll(): void {
    for (const [layer, heads] of this.mask_.entries()) {
      for (const [head, factor] of heads.entries()) {
        if (factor !== 0) continue;
        heads[head] = 1;
        this.marked_(layer, head, false);
      }
    }
    this.changed(this.chosen_.layer, this.chosen_.head);
  }

  private changed(layer: number, head: number): void {
    const isMuted = this.mask_[layer]?.[head] === 0;
    this.button_.setAttribute('aria-pressed', String(isMuted));
    this.marked_(layer, head, isMuted);
    void this.ask();
  }

  private async ask(): Promise<void> {
    const number = ++this.asked_;
    const muted = this.mask_.flat().filter((factor) => factor === 0).length;
    this.all_.hidden = muted === 0;
    const said = await this.answer_(muted === 0 ? undefined : this.mask_.map((heads) => [...heads])).catch(
      () => 'This can\u2019t be read.',
    );
    if (number === this.asked_)
      this.said_.textContent = `${muted === 0 ? 'All heads' : `Without ${count(muted, 'head')}`}: ${shorten(said)}`;
  }
}
