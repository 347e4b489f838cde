// The engines of one thread, for tasks of the same checkpoint to share weights.
import type { Engine } from './engine.js';

/** A checkpoint. Two tasks of the same checkpoint can share weights. */
export interface Checkpoint {
  config: Uint8Array;
  weights: string | undefined;
}

export type FindLoaded = (checkpoint: Checkpoint) => Engine | undefined;

export class EngineGroup {
  private readonly loaded_ = new Map<Engine, Checkpoint>();
  private last_: Promise<unknown> = Promise.resolve();

  /** Runs loads one after another, so that each can find the weights of earlier ones. */
  async load<L extends { engine: Engine; checkpoint: Checkpoint }>(one: (find: FindLoaded | undefined) => Promise<L>): Promise<L> {
    const turn = this.last_.then(async () => {
      const loaded = await one(this.loaded_.size > 0 ? (checkpoint) => this.find(checkpoint) : undefined);
      const { engine, checkpoint } = loaded;
      if (checkpoint.weights !== undefined) this.loaded_.set(engine, checkpoint);
      return loaded;
    });
    this.last_ = turn.catch(() => {});
    return turn;
  }

  remove(engine: Engine): void {
    this.loaded_.delete(engine);
  }

  private find({ config, weights }: Checkpoint): Engine | undefined {
    for (const [engine, known] of this.loaded_) {
      if (engine.healthy() && weights !== undefined && weights === known.weights && isSame(config, known.config)) return engine;
    }
    return undefined;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
