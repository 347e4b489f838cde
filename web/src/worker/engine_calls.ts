import type { Engine, RunRequest } from '../engine/engine.js';
import type { UsageReport } from '../engine/reports.js';
import { VectorIndexes } from '../engine/vector_index.js';
import { throwIfAborted } from '../errors.js';
import { afterWork } from '../events.js';
import { type Inspection, type InspectRequest, withInfinities } from '../tasks/inspection.js';
import { joinParts } from '../tasks/results.js';
import { runTokenizerCall, type TokenizerRequest } from '../tasks/tokenizer_calls.js';
import type { NearestRequest, SetVectors, VectorHit } from '../tasks/vector_search.js';

/** The calls of a pipeline to its engine. Those that compute wait for each other, because an engine holds the state of one request. */
export class EngineCalls {
  private readonly indexes_ = new VectorIndexes();
  private calls_ = 0;
  private milliseconds_ = 0;
  private last_: Promise<unknown> = Promise.resolve();

  constructor(
    /** Returns the engine. Throws before the load and after dispose(). */
    private readonly engine_: () => Engine,
    /** Returns an engine that works, for a new call. */
    private readonly working_: (signal: AbortSignal | undefined) => Promise<Engine>,
  ) {}

  run(request: RunRequest, signal: AbortSignal | undefined): Promise<unknown[]> {
    return this.inTurn(async () => {
      const engine = await this.working_(signal);
      const start = performance.now();
      engine.start(request);
      await afterWork(performance.now() - start);
      const results = await this.results(request.inputs.length, signal);
      this.calls_ += 1;
      this.milliseconds_ += performance.now() - start;
      return results;
    });
  }

  inspect(request: InspectRequest, signal: AbortSignal | undefined): Promise<Inspection> {
    return this.inTurn(async () => {
      (await this.working_(signal)).startInspection(request);
      const [found] = await this.results(1, signal);
      return withInfinities(found as Inspection);
    });
  }

  async tokenize(request: TokenizerRequest): Promise<unknown> {
    const tokenizer = this.engine_().tokenizer();
    try {
      return runTokenizerCall(tokenizer, request);
    } finally {
      tokenizer.dispose();
    }
  }

  setVectors(request: SetVectors): Promise<null> {
    return this.inTurn(() => timed(() => this.indexes_.set((width) => this.engine_().newIndex(width), request)));
  }

  nearest(request: NearestRequest): Promise<VectorHit[] | null> {
    return this.inTurn(() => timed(() => this.indexes_.nearest(request)));
  }

  usage(): UsageReport {
    return { calls: this.calls_, tokens: this.engine_().tokensRead(), milliseconds: this.milliseconds_ };
  }

  /** Frees the engine's memory that calls have taken. Called before the engine is freed. */
  release(engine: Engine): void {
    if (engine.healthy()) this.indexes_.dispose();
    else this.indexes_.forget();
  }

  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.last_.then(task);
    this.last_ = turn.catch(() => {});
    return turn;
  }

  private async results(inputs: number, signal: AbortSignal | undefined): Promise<unknown[]> {
    const results = new Array<unknown>(inputs);
    for (let more = true; more; ) {
      throwIfAborted(signal);
      const start = performance.now();
      more = await this.engine_().step();
      joinParts(results, this.engine_().take());
      await afterWork(performance.now() - start);
    }
    return results;
  }
}

async function timed<T>(work: () => T): Promise<T> {
  const start = performance.now();
  const result = work();
  await afterWork(performance.now() - start);
  return result;
}
