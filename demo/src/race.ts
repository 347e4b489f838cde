// The race: one model reads a text of 5,000 words in every way that this machine offers. A server runs along, which reads as fast as the
// fastest of them but is 80 ms away.
import { env } from '../peruse/peruse.js';
import { sourceFor } from './beside_page.js';
import { find, make } from './dom.js';
import { documents } from './examples.js';
import { describeFailure } from './failure.js';
import { duration } from './format.js';
import type { LoadOptions } from './loading.js';
import type { Settings } from './model_picker.js';

interface Lane extends Pick<Settings, 'device' | 'dtype'> {
  readonly name: string;
  readonly threads: number | 'auto';
}

interface Runner<Model> {
  load(source: Settings['source'], options: LoadOptions): Promise<Model>;
  ask(model: Model, text: string, signal: AbortSignal): Promise<unknown>;
}

const kMilliseconds = 1000; // ms for each lane
const kAway = 80; // ms for the round trip to a server
const kWords = 5000;
const kText = longText();

function longText(): string {
  const words = documents
    .map(({ text }) => text)
    .join(' ')
    .split(/\s+/);
  return Array.from({ length: kWords }, (_, index) => words[index % words.length]).join(' ');
}

function lanes(): Lane[] {
  const cpu = { device: 'cpu', dtype: 'fp32' } as const;
  return [
    { name: 'One thread', ...cpu, threads: 1 },
    ...(crossOriginIsolated ? [{ name: 'All threads', ...cpu, threads: 'auto' } as const] : []),
    { name: '8 bits (q8)', ...cpu, dtype: 'q8', threads: 'auto' },
    ...('gpu' in navigator ? [{ name: 'GPU', device: 'webgpu', dtype: 'fp32', threads: 1 } as const] : []),
  ];
}

export class Race<Model extends { dispose(): Promise<void> }> {
  private readonly list_: HTMLElement;
  private readonly start_: HTMLButtonElement;
  private readonly said_: HTMLElement;
  private isOn_ = false;

  constructor(
    box: HTMLElement,
    private readonly source_: () => Settings['source'] | undefined,
    private readonly runner_: Runner<Model>,
    private readonly onEnd_: () => void,
  ) {
    this.list_ = find(box, '.lanes', HTMLElement);
    this.start_ = find(box, '.start-race', HTMLButtonElement);
    this.said_ = find(box, '.race-said', HTMLElement);
    this.start_.addEventListener('click', () => void this.run());
  }

  /** Clears the results, which belong to the previous model. */
  reset(): void {
    if (!this.isOn_) this.list_.replaceChildren();
    this.said_.textContent = '';
  }

  private async run(): Promise<void> {
    const source = this.source_();
    if (this.isOn_ || source === undefined) return;
    this.isOn_ = true;
    this.start_.setAttribute('aria-disabled', 'true');
    const times = new Map<Row, number>();
    const rows = lanes().map((lane) => ({ lane, row: new Row(lane.name) }));
    const server = new Row(`A server ${kAway} ms away, as fast as your best`);
    const all = rows.map(({ row }) => row.element);
    const usual = rows.filter(({ lane }) => lane.dtype === 'fp32' && lane.device === 'cpu').length;
    this.list_.replaceChildren(...all.slice(0, usual), server.element, ...all.slice(usual));
    const showAll = () => {
      const reading = Math.min(...times.values());
      const slowest = Math.max(...times.values(), reading + kAway);
      for (const [row, time] of times) row.show(time, slowest);
      server.show(reading + kAway, slowest, kAway);
    };
    for (const { lane, row } of rows) {
      this.said_.textContent = lane.name;
      try {
        await this.time(source, lane, (milliseconds) => {
          times.set(row, milliseconds);
          showAll();
        });
      } catch (error) {
        row.fail(describeFailure(error)[0]?.textContent ?? '');
      }
    }
    const [first] = [...times].sort(([, a], [, b]) => a - b);
    this.said_.textContent = first ? `First: ${first[0].name}, ${duration(first[1])}.` : '';
    this.start_.setAttribute('aria-disabled', 'false');
    this.isOn_ = false;
    this.onEnd_();
  }

  /** Repeats the call, and reports the median after each. */
  private async time(source: Settings['source'], { threads, device, dtype }: Lane, say: (milliseconds: number) => void): Promise<void> {
    const { signal } = new AbortController();
    const readable = await sourceFor({ source, dtype }, signal);
    const before = env.threads;
    env.threads = threads;
    const loading = this.runner_.load(readable, { device, dtype, signal, progress_callback: () => {} });
    env.threads = before; // A pipeline has copied the value.
    const model = await loading;
    try {
      await this.runner_.ask(model, kText, signal);
      const times: number[] = [];
      const end = performance.now() + kMilliseconds;
      while (performance.now() < end || times.length === 0) {
        const start = performance.now();
        await this.runner_.ask(model, kText, signal);
        times.push(performance.now() - start);
        say([...times].sort((a, b) => a - b)[times.length >> 1] ?? 0);
      }
    } finally {
      await model.dispose();
    }
  }
}

class Row {
  readonly element: HTMLElement;
  private readonly fill_ = make('span', 'fill');
  private readonly travel_ = make('span', 'fill travel');
  private readonly score_ = make('span', 'score', '\u2026');

  constructor(readonly name: string) {
    const track = make('span', 'track', this.fill_, this.travel_);
    track.setAttribute('aria-hidden', 'true');
    for (const fill of [this.fill_, this.travel_]) fill.style.setProperty('--score', '0');
    this.element = make('li', '', make('span', 'label', name), track, this.score_);
  }

  /** The bar's length is the time; that of the slowest fills the track. `travel`: the part of the time in which nothing is read. */
  show(milliseconds: number, slowest: number, travel = 0): void {
    this.fill_.style.setProperty('--score', String(milliseconds / slowest));
    this.travel_.style.setProperty('--score', String(travel / slowest));
    this.score_.textContent = duration(milliseconds);
  }

  fail(why: string): void {
    this.score_.textContent = 'not here';
    this.element.title = why;
  }
}
