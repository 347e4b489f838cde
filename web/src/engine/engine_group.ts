// The engines of one thread, for tasks of the same checkpoint to share weights.
import type { Engine } from './engine.js';

/** A checkpoint: its config.json, and the version of its weights if it is known. */
export interface Checkpoint {
  config: Uint8Array;
  weights: string | undefined;
}

/** `changedConfig` is the config.json that the engine has, which may differ from the file if weights are in an ONNX file. */
export interface LoadedCheckpoint extends Checkpoint {
  changedConfig: Uint8Array;
}

export type FindLoaded = (checkpoint: Checkpoint) => Engine | undefined;

export class EngineGroup {
  readonly #loaded = new Map<Engine, LoadedCheckpoint & { isShared: boolean }>();
  #last: Promise<unknown> = Promise.resolve();

  /** Runs loads one after another, so that each can find the weights of earlier ones. */
  async load<L extends { engine: Engine; checkpoint: LoadedCheckpoint }>(
    one: (find: FindLoaded | undefined) => Promise<L>,
    isShared: boolean,
  ): Promise<L> {
    const turn = this.#last.then(async () => {
      const find = isShared && this.#loaded.size > 0 ? (checkpoint: Checkpoint) => this.#find(checkpoint) : undefined;
      const loaded = await one(find);
      this.#loaded.set(loaded.engine, { ...loaded.checkpoint, isShared });
      return loaded;
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  remove(engine: Engine): void {
    this.#loaded.delete(engine);
  }

  /** Whether an engine has loaded the checkpoint. */
  has(checkpoint: Checkpoint): boolean {
    return [...this.#loaded.values()].some((known) => isSame(checkpoint, known));
  }

  #find(checkpoint: Checkpoint): Engine | undefined {
    for (const [engine, known] of this.#loaded) {
      const isUsable = known.isShared && engine.healthy() && isEqual(known.config, known.changedConfig);
      if (isUsable && isSame(checkpoint, known)) return engine;
    }
    return undefined;
  }
}

function isSame(one: Checkpoint, other: Checkpoint): boolean {
  return one.weights !== undefined && one.weights === other.weights && isEqual(one.config, other.config);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.length === b.length && a.every((byte, index) => byte === b[index]));
}
