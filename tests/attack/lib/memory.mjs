// Detects memory that rises over many rounds of the same work.
import { Finding } from './outcome.mjs';

/** Variation of a constant level because of garbage, in bytes. */
const kWavers = 20e6;
const kLeastPoints = 12;

export class MemoryCurve {
  /** `measure` returns bytes; `mostPerRound` is the largest permitted slope, `mostInAll` the largest permitted increase. */
  constructor(name, measure, mostPerRound, mostInAll = kWavers) {
    this.name_ = name;
    this.measure_ = measure;
    this.most_ = mostPerRound;
    this.mostInAll_ = mostInAll;
    this.points_ = [];
    this.round_ = 0;
  }

  async round() {
    this.round_ += 1;
    if (this.round_ % 5 === 0) this.points_.push([this.round_, await this.measure_()]);
  }

  /** Whether both slope and total increase are too large, so far. */
  get rises() {
    const slope = this.slope;
    return slope > this.most_ && slope * this.round_ > this.mostInAll_;
  }

  /** Throws if memory rises; otherwise returns what was measured. */
  check() {
    const points = this.counted;
    if (points.length < kLeastPoints) return `${this.name_}: ${this.round_} rounds, too few to tell`;
    const megabytes = (points.at(-1)[1] / 1e6).toFixed(0);
    const text = `${this.name_}: ${this.round_} rounds, ${megabytes} MB, ${(this.slope / 1000).toFixed(1)} KB a round`;
    if (this.rises) throw new Finding(`memory rises: ${text}`);
    return text;
  }

  /** Bytes per round; 0 if there are too few points. */
  get slope() {
    return this.counted.length < kLeastPoints ? 0 : medianSlope(lowest(this.counted));
  }

  /** The points after the first third of the rounds: memory rises while V8 compiles and its heaps in workers grow. */
  get counted() {
    return this.points_.filter(([round]) => round > Math.max(10, this.round_ / 3));
  }
}

/** The highest level of rounds 6 to 15, and the lowest of the last ten: garbage collection makes single levels vary by a tenth. */
export class Levels {
  constructor() {
    this.first = 0;
    this.last_ = [];
    this.round_ = 0;
  }

  add(bytes) {
    this.round_ += 1;
    if (this.round_ > 5 && this.round_ <= 15) this.first = Math.max(this.first, bytes);
    this.last_ = [...this.last_.slice(-9), bytes];
  }

  get end() {
    return Math.min(...this.last_);
  }

  get rose() {
    return this.end > 1.05 * this.first;
  }

  toString() {
    return `${(this.first / 1e6).toFixed(0)} MB after ten rounds, ${(this.end / 1e6).toFixed(0)} MB after ${this.round_}`;
  }
}

/** The lowest of every three points: garbage, which workers collect when they like, only adds to a level. */
function lowest(points) {
  const lows = [];
  for (let i = 0; i + 3 <= points.length; i += 3) lows.push(points.slice(i, i + 3).reduce((a, b) => (b[1] < a[1] ? b : a)));
  return lows;
}

/** The median of the slopes between points of the first and second half (Theil and Sen), which ignores outliers. */
function medianSlope(points) {
  const half = Math.floor(points.length / 2);
  const slopes = [];
  for (const [x0, y0] of points.slice(0, half)) for (const [x1, y1] of points.slice(half)) slopes.push((y1 - y0) / (x1 - x0));
  slopes.sort((a, b) => a - b);
  return slopes[Math.floor(slopes.length / 2)];
}

/** Memory of this process without V8's free heap. Garbage such as workers and WebAssembly memory needs some turns to be freed. */
export async function residentBytes() {
  for (let i = 0; i < 3; ++i) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  return rss - (heapTotal - heapUsed);
}
