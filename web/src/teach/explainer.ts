// Opens a model in the engine's thread whose results are explained by gradients.
import { hasHeadFor } from '../sources/model_texts.js';
import { openFolder } from '../sources/open_folder.js';
import { quietly } from '../sources/read_files.js';
import type { SourceSpec } from '../sources/source.js';
import type { EngineTask, TaskDefinition } from '../tasks/definition.js';
import { feedTrainer, readTexts, type TrainerRequest, type TrainerRuntime } from './open_trainer.js';
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
  const folder = await openFolder(source, { ...runtime, notice: () => {} });
  const { job, texts, modules } = await readTexts(
    quietly(source.name, folder, signal),
    (config) => pipelineTask.sentenceFiles === 'without head' && !hasHeadFor(pipelineTask, config),
  );
  const trainer = await starting;
  for (const { name, content } of [...texts, ...modules]) trainer.addFile(name, content);
  trainer.open({ task, explains: true, threads: choice.threads });
  await feedTrainer(job, trainer, false);
  return trainer;
}
