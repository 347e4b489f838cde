// The race: one model reads a text of 500 words in every way that this machine offers; the round trip to a server is shown for comparison.
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
const kFewest = 5; // smallest number of calls
const kAway = 80; // ms for the round trip to a server
const kWords = 500;
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
    { name: 'CPU, one thread', ...cpu, threads: 1 },
    ...(crossOriginIsolated ? [{ name: 'CPU, all threads', ...cpu, threads: 'auto' } as const] : []),
    { name: 'CPU, 8 bits (q8)', ...cpu, dtype: 'q8', threads: 'auto' },
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
    const server = new Row(`A server ${kAway} ms away, before it has read anything`);
    times.set(server, kAway);
    this.list_.replaceChildren(...rows.map(({ row }) => row.element), server.element);
    for (const { lane, row } of rows) {
      this.said_.textContent = lane.name;
      try {
        await this.time(source, lane, (milliseconds) => {
          times.set(row, milliseconds);
          const best = Math.min(...times.values());
          for (const [each, time] of times) each.show(time, best);
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
      while (performance.now() < end || times.length < kFewest) {
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
  private readonly score_ = make('span', 'score', '\u2026');

  constructor(readonly name: string) {
    const track = make('span', 'track', this.fill_);
    track.setAttribute('aria-hidden', 'true');
    this.fill_.style.setProperty('--score', '0');
    this.element = make('li', '', make('span', 'label', name), track, this.score_);
  }

  /** The bar's length is the speed relative to the fastest lane. */
  show(milliseconds: number, best: number): void {
    this.fill_.style.setProperty('--score', String(best / milliseconds));
    this.score_.textContent = duration(milliseconds);
  }

  fail(why: string): void {
    this.score_.textContent = 'not here';
    this.element.title = why;
  }
}
