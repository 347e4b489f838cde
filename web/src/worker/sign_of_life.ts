// No event reports that a page's own code or the browser has ended a worker. So a worker holds a lock while it runs calls, and its caller looks
// for the lock. Only on secure pages, which have locks.
import { patience } from '../patience.js';

/** Time in milliseconds after which an idle worker releases its lock: held locks keep a page out of the back/forward cache. */
const kRest = 1000;

/** The name of a lock for a new worker; undefined if there are no locks. */
export function lockName(): string | undefined {
  return globalThis.navigator?.locks === undefined ? undefined : `peruse-worker-${crypto.randomUUID()}`;
}

/** The worker's end: holds the lock while calls run. */
export class LifeLock {
  readonly #name: string;
  #calls = 0;
  #release: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  begin(): void {
    this.#calls += 1;
    clearTimeout(this.#timer);
    if (this.#release) return;
    const held = new Promise<void>((resolve) => {
      this.#release = resolve;
    });
    navigator.locks.request(this.#name, () => held).catch(() => {});
  }

  end(): void {
    this.#calls -= 1;
    if (this.#calls > 0) return;
    this.#timer = setTimeout(() => {
      this.#release?.();
      this.#release = undefined;
    }, kRest);
  }
}

/** The caller's end: looks for the lock while calls are pending. */
export class LifeWatch {
  readonly #name: string;
  readonly #onDeath: () => void;
  #calls = 0;
  #hasBegun = false;
  #misses = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(name: string, onDeath: () => void) {
    this.#name = name;
    this.#onDeath = onDeath;
  }

  begin(): void {
    this.#calls += 1;
    this.#misses = 0;
    this.#timer ??= setInterval(() => void this.#look().catch(() => {}), patience.signOfLife);
  }

  /** The worker has sent a message. Before the first one, its script is still loading. */
  heard(isAnswer: boolean): void {
    this.#hasBegun = true;
    this.#misses = 0;
    if (isAnswer && --this.#calls <= 0) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#calls = 0;
  }

  async #look(): Promise<void> {
    const { held = [] } = await navigator.locks.query();
    if (!this.#hasBegun || held.some(({ name }) => name === this.#name)) this.#misses = 0;
    else if (++this.#misses === 2 && this.#timer !== undefined) {
      this.stop();
      this.#onDeath();
    }
  }
}
