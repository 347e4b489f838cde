// All heads of all layers as small maps, one of which is chosen.
import type { Inspection } from '../../peruse/peruse.js';
import { make, makeButton } from '../dom.js';
import { drawn, paint, shrink } from './heat.js';
import { rove } from './roving.js';
import { type Change, headMap, type Selection, type View } from './selection.js';

const kPixels = 48;

export class HeadPicker implements View {
  readonly element = make('div', 'heads');
  private readonly buttons_: HTMLButtonElement[][];

  constructor(inspection: Inspection, change: Change) {
    this.buttons_ = (inspection.attentions ?? []).map((layer, layerIndex) =>
      Array.from({ length: layer.dims[0] ?? 0 }, (_, head) => smallMap(inspection, layerIndex, head, change)),
    );
    const rows = this.buttons_.map((buttons, layer) => make('div', 'layer', make('span', 'layer-name', `Layer ${layer + 1}`), ...buttons));
    const group = make('div', 'layers', ...rows);
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', 'Layers and heads');
    this.element.append(make('h3', '', 'Heads'), group);
    rove(group, this.buttons_.flat());
  }

  /** A muted head can still be chosen; its label says that it is muted. */
  mark(layer: number, head: number, isMuted: boolean): void {
    const button = this.buttons_[layer]?.[head];
    button?.classList.toggle('is-muted', isMuted);
    button?.setAttribute('aria-label', `${nameOf(layer, head)}${isMuted ? ', muted' : ''}`);
  }

  update({ layer, head }: Selection): void {
    for (const [row, buttons] of this.buttons_.entries()) {
      for (const [column, button] of buttons.entries()) button.setAttribute('aria-pressed', String(row === layer && column === head));
    }
  }
}

function nameOf(layer: number, head: number): string {
  return `Layer ${layer + 1}, head ${head + 1}`;
}

function smallMap(inspection: Inspection, layer: number, head: number, change: Change): HTMLButtonElement {
  const canvas = make('canvas', 'small-map');
  const { map, size } = shrink(headMap(inspection, layer, head), inspection.tokens.length, kPixels);
  drawn(canvas, () => paint(canvas, map, size));
  const button = makeButton([canvas], () => change({ layer, head }));
  button.className = 'head';
  button.setAttribute('aria-label', nameOf(layer, head));
  button.addEventListener('focus', () => change({ layer, head }));
  return button;
}
