// Opens a model in the engine's thread whose results are explained by gradients.
import { hasHeadFor, openCheckpoint, readForTraining } from '../sources/checkpoint.js';
import { floatConfig, quantizedConfig } from '../sources/float_weights.js';
import type { SourceSpec } from '../sources/source.js';
import type { EngineTask, TaskDefinition } from '../tasks/definition.js';
import { feedTrainer, type TrainerRequest, type TrainerRuntime } from './open_trainer.js';
import type { Trainer } from './trainer.js';

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
