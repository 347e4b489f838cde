// Starts the trainer's engine, and feeds it a model's weights: to train it, or to explain its results by gradients.
import createPlain from '../../wasm/glue-teach.mjs';
import createThreaded from '../../wasm/glue-teach-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { startModule } from '../engine/start_module.js';
import { hasHeadFor, readForTraining } from '../sources/checkpoint.js';
import { neededWeights } from '../sources/model_files.js';
import { openCheckpoint } from '../sources/open_checkpoint.js';
import type { Reading } from '../sources/read_files.js';
import type { SourceSpec } from '../sources/source.js';
import { feedWeights, type WeightsReceiver } from '../sources/weights/feed_weights.js';
import { FloatWeights, floatConfig, type QuantizedConfig, quantizedConfig } from '../sources/weights/float_weights.js';
import type { EngineTask, TaskDefinition } from '../tasks/definition.js';
import type { EngineRuntime } from '../worker/runtime.js';
import { type TeachModule, Trainer, type WeightsTaken } from './trainer.js';

/** The builds for training, with one thread or several. Their results are bit-identical. */
export type TeachBuild = 'teach' | 'teach-threads';

export type TrainerRuntime = EngineRuntime<TeachBuild>;

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

export interface ExplainedModel extends TrainerRequest {
  task: NonNullable<TaskDefinition['explains']>;
  /** The pipeline's task. */
  pipelineTask: EngineTask;
  source: SourceSpec;
}

export async function openExplained(
  model: ExplainedModel,
  starting: Promise<Trainer>,
  runtime: TrainerRuntime,
  signal: AbortSignal,
): Promise<Trainer> {
  const { source, task, pipelineTask, choice } = model;
  const { job, texts, modules } = await readForTraining(
    await openCheckpoint(source, runtime, signal),
    (config) => pipelineTask.sentenceFiles === 'without head' && !hasHeadFor(pipelineTask, config),
  );
  const [config, ...others] = texts;
  const quantized = quantizedConfig(config!);
  const trainer = await starting;
  trainer.addFile(config!.name, quantized ? floatConfig(quantized) : config!.content);
  for (const { name, content } of [...others, ...modules]) trainer.addFile(name, content);
  trainer.open({ task, explains: true, threads: choice.threads });
  await feedTrainer(job, trainer, false, quantized);
  return trainer;
}
