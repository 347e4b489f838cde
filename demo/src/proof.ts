// The strip below the title: the page's requests, and how long the last answer took.
// There are up to three records of a request: the page's own timeline (without workers), the service worker (all requests, once it is
// active), and the progress of a load (for workers before that). An address that two records contain is one request; an address that one
// record contains twice is two requests.
import { find } from './dom.js';
import { bytes, count, duration } from './format.js';

type Witness = 'timeline' | 'service worker' | 'progress';

interface Request {
  readonly url: string;
  readonly witness: Witness;
  /** A time as from Date.now(). */
  readonly at: number;
  readonly bytes: number;
}

/** The service worker's message about a request (service_worker/offline.ts). */
export interface SeenRequest {
  request: string;
  at: number;
  bytes: number;
}

/** A file of the page, requested after the first answer. */
const kServiceWorker = new URL('offline.js', document.baseURI).href;

export class Proof {
  private readonly since_: HTMLElement;
  private readonly bytes_: HTMLElement;
  private readonly last_: HTMLElement;
  private readonly connection_: HTMLElement;
  private readonly seen_: Request[] = [];
  private readonly progress_ = new Map<string, number>();
  private readonly dare_: HTMLElement;
  private readonly nothing_: HTMLElement;
  private readonly what_: HTMLElement;
  private whileOnline_: string;
  private readyAt_ = Infinity;
  private sayFirst_: () => void = () => {};
  /** Resolves after the first answer. */
  readonly firstAnswer = new Promise<void>((done) => {
    this.sayFirst_ = done;
  });

  constructor(strip: HTMLElement) {
    this.since_ = find(strip, '.since', HTMLElement);
    this.bytes_ = find(strip, '.bytes-loaded', HTMLElement);
    this.last_ = find(strip, '.last', HTMLElement);
    this.connection_ = find(strip, '.connection', HTMLElement);
    this.dare_ = find(strip, '.dare', HTMLElement);
    this.nothing_ = find(strip, '.nothing', HTMLElement);
    this.what_ = find(strip, '.what', HTMLElement);
    this.whileOnline_ = this.dare_.textContent ?? '';
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceResourceTiming[]) {
        if (entry.name === kServiceWorker) continue; // Only WebKit lists it.
        const at = performance.timeOrigin + entry.startTime;
        this.take({ url: entry.name, witness: 'timeline', at, bytes: entry.encodedBodySize });
      }
    }).observe({ type: 'resource', buffered: true });
    navigator.serviceWorker?.addEventListener('message', ({ data }: MessageEvent<Partial<SeenRequest>>) => {
      if (data.request === undefined) return;
      this.take({ url: data.request, witness: 'service worker', at: data.at ?? Date.now(), bytes: data.bytes ?? 0 });
    });
    for (const event of ['online', 'offline']) addEventListener(event, () => this.showConnection());
    this.showConnection();
  }

  loading(url: string, loaded: number): void {
    if (navigator.serviceWorker?.controller) return; // The service worker reports the request.
    const before = this.progress_.get(url);
    if (before === undefined || loaded < before) this.take({ url, witness: 'progress', at: Date.now(), bytes: 0 });
    this.progress_.set(url, loaded);
    this.show();
  }

  /** Ends the count of requests while files of a model are requested. */
  modelIsLoading(): void {
    this.readyAt_ = Infinity;
    this.show();
  }

  /** Begins to count requests, because the model is loaded, or the load has failed. */
  modelIsReady(): void {
    this.readyAt_ = Date.now();
    this.show();
  }

  dare(): void {
    this.whileOnline_ = 'Go offline: it keeps working.';
    this.showConnection();
  }

  answered(milliseconds: number): void {
    this.sayFirst_();
    this.last_.textContent = duration(milliseconds);
  }

  private take(request: Request): void {
    this.seen_.push(request);
    this.show();
  }

  private show(): void {
    const since = countOnce(this.seen_.filter(({ at }) => at > this.readyAt_));
    const progress = [...this.progress_.values()].reduce((sum, loaded) => sum + loaded, 0);
    this.since_.textContent = String(since);
    this.what_.textContent = since === 1 ? 'request' : 'requests';
    this.nothing_.style.visibility = since > 0 ? 'hidden' : ''; // Its space stays.
    this.bytes_.textContent = `${bytes(bytesOf(this.seen_) + progress)} in ${count(countOnce(this.seen_), 'file')}`;
  }

  private showConnection(): void {
    this.connection_.textContent = navigator.onLine ? 'online' : 'offline';
    this.dare_.textContent = navigator.onLine ? this.whileOnline_ : 'It still answers.';
    this.connection_.classList.toggle('is-offline', !navigator.onLine);
  }
}

function byUrl(requests: readonly Request[]): Request[][] {
  const groups = new Map<string, Request[]>();
  for (const request of requests) groups.set(request.url, [...(groups.get(request.url) ?? []), request]);
  return [...groups.values()];
}

function countOnce(requests: readonly Request[]): number {
  const most = (group: Request[]) => {
    const counts = new Map<Witness, number>();
    for (const { witness } of group) counts.set(witness, (counts.get(witness) ?? 0) + 1);
    return Math.max(...counts.values());
  };
  return byUrl(requests).reduce((sum, group) => sum + most(group), 0);
}

function bytesOf(requests: readonly Request[]): number {
  return byUrl(requests).reduce((sum, group) => sum + Math.max(...group.map(({ bytes: size }) => size)), 0);
}
