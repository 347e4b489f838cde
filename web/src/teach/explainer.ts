// A model in the engine's thread whose results are explained by gradients.
import { readModules } from '../engine/load.js';
import type { GradientRequest, GradientResult } from '../explain/gradient.js';
import { Totals } from '../progress.js';
import { kForms } from '../sources/model_files.js';
import { openFolder } from '../sources/open_folder.js';
import { locate, type Reading, readTokenizer } from '../sources/read_files.js';
import type { SourceSpec } from '../sources/source.js';
import { feedTrainer, type LessonParts, startTrainer, type TrainerRequest } from './open_trainer.js';
import type { Trainer } from './trainer.js';

export interface ExplainedModel extends TrainerRequest {
  task: 'text-classification' | 'question-answering';
  /** Whether the folder's modules belong to the classifier. */
  readsModules: boolean;
  source: SourceSpec;
}

export interface ExplainerRequest {
  /** Only in the first request to a host. */
  model?: ExplainedModel;
  wish: GradientRequest;
}

export class Explainer {
  private readonly trainer_: Promise<Trainer>;

  constructor(model: ExplainedModel, parts: LessonParts, signal: AbortSignal) {
    this.trainer_ = load(model, parts, signal);
    this.trainer_.catch(() => {}); // awaited by explain()
  }

  async explain(wish: GradientRequest): Promise<GradientResult> {
    return (await this.trainer_).explain(wish);
  }
}

/** More tokens than any model takes. */
const kNoLimit = 1_000_000;

async function load(model: ExplainedModel, parts: LessonParts, signal: AbortSignal): Promise<Trainer> {
  const starting = startTrainer(model, parts);
  starting.catch(() => {}); // awaited below; errors in the files have priority
  const { source, task, choice } = model;
  const folder = await openFolder(source, { ...parts, notice: () => {} });
  const reading: Reading = { name: source.name, folder, report: () => {}, signal, totals: new Totals(kForms) };
  const { job, config } = await locate(reading);
  const modules = model.readsModules ? await readModules(reading) : [];
  const files = [config, ...(await readTokenizer(job)), ...modules];
  const trainer = await starting;
  for (const { name, content } of files) trainer.addFile(name, content);
  trainer.open({ task, explains: true, threads: choice.threads, max_length: kNoLimit });
  await feedTrainer(job, trainer, false);
  return trainer;
}
