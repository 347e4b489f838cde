// Takes turns among the calls of one thread: an engine works on one piece of one call at a time.

/** Who makes a call, and whether it may pass others. */
export interface Turn {
  /** The pipeline, by a number that is unique in its page or process. */
  pipeline: number;
  /** Run before all calls without this mark, after the piece that is running. */
  isUrgent?: boolean;
}

interface Job {
  /** Runs the next piece. Returns whether more follow. */
  piece: () => Promise<boolean>;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** The jobs of each pipeline, and the pipelines, are in the order of their next turns. */
type Queues = Map<number, Job[]>;

/** Calls of one pipeline that take turns. Those after them wait, because a call that has begun needs memory until it ends. */
const kOpen = 8;

/** Runs pieces of calls: those of urgent calls first, otherwise one of each pipeline in rotation. The first calls of a pipeline rotate, too. */
export class Turns {
  readonly #urgent: Queues = new Map();
  readonly #usual: Queues = new Map();
  #isRunning = false;

  /** Runs a call piece by piece, until `piece` returns false or throws. */
  run({ pipeline, isUrgent }: Turn, piece: () => Promise<boolean>): Promise<void> {
    const queues = isUrgent ? this.#urgent : this.#usual;
    return new Promise((resolve, reject) => {
      const job = { piece, resolve, reject };
      const waiting = queues.get(pipeline);
      if (waiting) waiting.push(job);
      else queues.set(pipeline, [job]);
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      const queues = this.#urgent.size > 0 ? this.#urgent : this.#usual;
      const [next] = queues;
      if (next === undefined) break;
      const [pipeline, jobs] = next;
      const isOver = await runPiece(jobs[0]!);
      const job = jobs.shift()!;
      if (!isOver) jobs.splice(kOpen - 1, 0, job);
      queues.delete(pipeline); // the pipeline's next turn comes after those of all others
      if (jobs.length > 0) queues.set(pipeline, jobs);
    }
    this.#isRunning = false;
  }
}

async function runPiece({ piece, resolve, reject }: Job): Promise<boolean> {
  try {
    if (await piece()) return false;
    resolve();
  } catch (error) {
    reject(error);
  }
  return true;
}
