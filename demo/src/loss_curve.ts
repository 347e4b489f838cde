// Draws the loss of every update as a line, and the measurement after each epoch as a dot.
const kSvg = 'http://www.w3.org/2000/svg';
const kWidth = 300;
const kHeight = 90;

function shape<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

export class LossCurve {
  readonly element = shape('svg', { viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'img', class: 'curve', preserveAspectRatio: 'none' });
  private readonly line_ = shape('polyline', { points: '', fill: 'none', 'vector-effect': 'non-scaling-stroke' });
  private readonly filled_ = shape('polygon', { points: '', class: 'filled' });
  private losses_: number[] = [];

  constructor() {
    this.element.append(this.filled_, this.line_);
    this.clear();
  }

  clear(): void {
    this.losses_ = [];
    for (const each of [this.line_, this.filled_]) each.setAttribute('points', '');
    this.element.setAttribute('aria-label', 'No loss yet');
  }

  /** `steps`: the expected number of updates. */
  add(loss: number, steps: number): void {
    this.losses_.push(loss);
    const most = Math.max(...this.losses_, 1e-6);
    const across = (index: number) => (steps > 1 ? (index / (steps - 1)) * kWidth : kWidth / 2);
    const points = this.losses_.map(
      (one, index) => `${across(index).toFixed(1)},${(kHeight - 4 - (one / most) * (kHeight - 8)).toFixed(1)}`,
    );
    this.line_.setAttribute('points', points.join(' '));
    const end = across(this.losses_.length - 1).toFixed(1);
    this.filled_.setAttribute('points', `0,${kHeight} ${points.join(' ')} ${end},${kHeight}`);
    this.element.setAttribute(
      'aria-label',
      `Loss, from ${this.losses_[0]!.toFixed(2)} to ${loss.toFixed(2)} in ${this.losses_.length} steps`,
    );
  }
}
