import { find, makeButton } from '../dom.js';
import type { Inspectable, Tab } from '../task_panel.js';

export interface Subject {
  readonly name: string;
  readonly tab: Inspectable;
}

export class InsidePlace implements Tab {
  private readonly buttons_ = new Map<string, HTMLButtonElement>();
  private readonly body_: HTMLElement;
  private chosen_: string;

  constructor(
    private readonly panel_: HTMLElement,
    private readonly subjects_: Readonly<Record<string, Subject>>,
  ) {
    this.body_ = find(panel_, '.inside-body', HTMLElement);
    this.chosen_ = Object.keys(subjects_)[0] ?? '';
    for (const [id, { name }] of Object.entries(subjects_)) {
      const button = makeButton([name], () => this.choose(id));
      this.buttons_.set(id, button);
      find(panel_, '.subjects', HTMLElement).append(button);
    }
    for (const id of Object.keys(subjects_)) {
      const link = find(document, `#${id} .look-inside`, HTMLButtonElement);
      link.addEventListener('click', () => find(document, '#tab-inside', HTMLElement).click());
    }
  }

  open(): void {
    this.choose(this.chosen_);
  }

  shown(id: string): void {
    if (id in this.subjects_) this.chosen_ = id;
  }

  private choose(id: string): void {
    this.chosen_ = id;
    for (const [each, button] of this.buttons_) button.setAttribute('aria-pressed', String(each === id));
    for (const [each, { tab }] of Object.entries(this.subjects_)) if (each !== id) tab.leave();
    this.subjects_[id]?.tab.lookInto(this.body_);
    this.panel_.scrollIntoView({ block: 'nearest' });
  }
}
