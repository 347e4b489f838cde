import type { Engine, RunRequest } from '../engine/engine.js';
import type { UsageReport } from '../engine/load_request.js';
import { VectorIndexes } from '../engine/vector_index.js';
import { PeruseError, throwIfAborted } from '../errors.js';
import { afterWork } from '../events.js';
import type { Inspection, InspectRequest } from '../tasks/inspection.js';
import { joinParts } from '../tasks/results.js';
import { runTokenizerCall, type TokenizerRequest } from '../tasks/tokenizer_calls.js';
import type { NearestRequest, SetVectors, VectorHit } from '../tasks/vector_search.js';
import type { Turn, Turns } from './turns.js';

/** A pipeline's work and vectors in an engine. */
interface Account {
  usage: UsageReport;
  indexes: VectorIndexes;
}

/** The calls of pipelines to an engine. Those that compute take turns. */
export class EngineCalls {
  readonly #engine: () => Engine;
  readonly #working: (signal: AbortSignal | undefined) => Promise<Engine>;
  readonly #turns: Turns;
  readonly #accounts = new Map<number, Account>();
  readonly #requests = new Set<number>(); // numbers of the requests that the engine is working on

  /**
   * `engine` returns the engine, and throws before the load and after dispose(). `working` returns an engine that works, for a new call.
   */
  constructor(turns: Turns, engine: () => Engine, working: (signal: AbortSignal | undefined) => Promise<Engine>) {
    this.#turns = turns;
    this.#engine = engine;
    this.#working = working;
  }

  async run(request: RunRequest, signal: AbortSignal | undefined, turn: Turn): Promise<unknown[]> {
    const results = await this.#request((engine) => engine.start(request), request.inputs.length, signal, turn);
    this.#account(turn).usage.calls += 1;
    return results;
  }

  async inspect(request: InspectRequest, signal: AbortSignal | undefined, turn: Turn): Promise<Inspection[]> {
    const found = await this.#request((engine) => engine.startInspection(request), request.inputs.length, signal, turn);
    return found.map((one) => withInfinities(one as Inspection));
  }

  async tokenize(request: TokenizerRequest): Promise<unknown> {
    const tokenizer = this.#engine().tokenizer();
    try {
      return runTokenizerCall(tokenizer, request);
    } finally {
      tokenizer.dispose();
    }
  }

  setVectors(request: SetVectors, turn: Turn): Promise<null> {
    return this.#inTurn(turn, () => this.#account(turn).indexes.set((width) => this.#engine().newIndex(width), request));
  }

  nearest(request: NearestRequest, turn: Turn): Promise<VectorHit[] | null> {
    return this.#inTurn(turn, () => this.#account(turn).indexes.nearest(request));
  }

  usage(turn: Turn): UsageReport {
    this.#engine(); // throws after dispose()
    return { ...this.#account(turn).usage };
  }

  /** Frees what a pipeline has in the engine. */
  async leave(turn: Turn): Promise<null> {
    await this.#inTurn(turn, () => this.#accounts.get(turn.pipeline)?.indexes.dispose());
    this.#accounts.delete(turn.pipeline);
    return null;
  }

  /** Frees the engine's memory that calls have taken. Called before the engine is freed. */
  release(engine: Engine): void {
    for (const { indexes } of this.#accounts.values()) {
      if (engine.healthy()) indexes.dispose();
      else indexes.forget();
    }
  }

  #account({ pipeline }: Turn): Account {
    const known = this.#accounts.get(pipeline);
    if (known) return known;
    const made = { usage: { calls: 0, tokens: 0, milliseconds: 0 }, indexes: new VectorIndexes() };
    this.#accounts.set(pipeline, made);
    return made;
  }

  /** Runs a request batch by batch. The engine may work on other requests between two batches. */
  async #request(start: (engine: Engine) => void, inputs: number, signal: AbortSignal | undefined, turn: Turn): Promise<unknown[]> {
    const results = new Array<unknown>(inputs);
    const { usage } = this.#account(turn);
    let number = -1;
    let engine: Engine | undefined;
    const begin = async () => {
      engine = await this.#working(signal);
      number = this.#newNumber();
      return this.#timed(usage, engine, () => {
        engine!.select(number);
        start(engine!);
        return true;
      });
    };
    const step = async () => {
      const current = this.#engine();
      if (current !== engine) throw new PeruseError('gpu_lost', 'The GPU device was lost during the call.');
      current.select(number);
      return this.#timed(usage, current, async () => {
        const more = await current.step();
        joinParts(results, current.take());
        return more;
      });
    };
    try {
      await this.#turns.run(turn, () => {
        throwIfAborted(signal);
        return engine === undefined ? begin() : step();
      });
      return results;
    } finally {
      this.#requests.delete(number);
    }
  }

  #newNumber(): number {
    let number = 0;
    while (this.#requests.has(number)) ++number;
    this.#requests.add(number);
    return number;
  }

  async #timed<T>(usage: UsageReport, engine: Engine, work: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    const before = engine.tokensRead();
    const result = await work();
    const milliseconds = performance.now() - start;
    usage.milliseconds += milliseconds;
    usage.tokens += engine.tokensRead() - before;
    await afterWork(milliseconds);
    return result;
  }

  async #inTurn<T>(turn: Turn, work: () => T): Promise<T> {
    let result: T;
    await this.#turns.run(turn, async () => {
      const start = performance.now();
      result = work();
      await afterWork(performance.now() - start);
      return false;
    });
    return result!;
  }
}

/** Restores infinity, which JSON represents as null. */
function withInfinities(found: Inspection): Inspection {
  const concentrations: (number | null)[][] | undefined = found.diagonal_concentration;
  if (concentrations === undefined) return found;
  return { ...found, diagonal_concentration: concentrations.map((layer) => layer.map((value) => value ?? Infinity)) };
}
