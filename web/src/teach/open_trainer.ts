// Starts the trainer's engine, and feeds it a model's weights.
import createPlain from '../../wasm/glue-teach.mjs';
import createThreaded from '../../wasm/glue-teach-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { type BuildAccess, startModule } from '../engine/start_module.js';
import { feedWeights, type WeightsReceiver } from '../sources/feed_weights.js';
import type { FileAccess } from '../sources/file_access.js';
import { FloatWeights, type QuantizedConfig } from '../sources/float_weights.js';
import { neededWeights } from '../sources/model_files.js';
import type { Reading } from '../sources/read_files.js';
import { type TeachModule, Trainer, type WeightsTaken } from './trainer.js';

/** The builds for training, with one thread or several. Their results are bit-identical. */
export type TeachBuild = 'teach' | 'teach-threads';

export interface TrainerRuntime extends FileAccess, BuildAccess<TeachBuild> {}

export interface TrainerRequest {
  choice: { threads: number };
  wasm?: string | undefined;
}

export async function startTrainer({ choice, wasm }: TrainerRequest, runtime: TrainerRuntime): Promise<Trainer> {
  const build: TeachBuild = choice.threads > 1 ? 'teach-threads' : 'teach';
  const glue = choice.threads > 1 ? createThreaded : createPlain;
  const factory = glue as unknown as ModuleFactory<TeachModule>; // all loaders are declared as the engine's
  const { module, lastWords } = await startModule(factory, build, choice.threads, wasm, runtime);
  return new Trainer(module, lastWords);
}

/** Feeds the weights, as floats if they are `quantized`. With `keeps`, also returns the files that were fed. */
export async function feedTrainer(
  job: Reading,
  trainer: Trainer,
  keeps: boolean,
  quantized?: QuantizedConfig,
): Promise<{ weights: WeightsTaken; base?: Map<string, Blob> }> {
  const found = await neededWeights(job.folder, job.signal);
  const base = new Map<string, Blob>();
  let parts: Blob[] = [];
  const keep = (name: string) => {
    base.set(name, new Blob(parts));
    parts = [];
  };
  const newFloats = () => quantized && new FloatWeights(found.name, quantized.config);
  let floats = newFloats();
  const receiver: WeightsReceiver = {
    setShardIndex(index) {
      base.set(found.name, new Blob([index as Uint8Array<ArrayBuffer>]));
      return trainer.setShardIndex(index);
    },
    feedWeights(chunk) {
      for (const part of floats?.feed(chunk) ?? [chunk]) {
        trainer.feedWeights(part);
        if (keeps) parts.push(new Blob([part as Uint8Array<ArrayBuffer>]));
      }
    },
    endShard(name) {
      trainer.endShard();
      floats = newFloats();
      keep(name);
    },
  };
  await feedWeights(job, receiver, found);
  if (!found.sharded) keep(found.name);
  const weights = trainer.finishWeights();
  return keeps ? { weights, base } : { weights };
}
