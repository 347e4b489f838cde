// Asks the engine whether it runs a checkpoint, and for which tasks, with config.json and tensor headers only.

import { PeruseError, show } from '../errors.js';
import { withModel } from '../quantize/stand_in_engine.js';
import { numberOf } from '../sources/json.js';
import { kVocabularies } from '../sources/model_files.js';
import { engineTask, kTasks, type Task } from '../tasks/tasks.js';
import type { Checkpoint } from './checkpoint.js';

export interface Verdict {
  task: Task;
  refused?: { code: string; message: string };
}

export async function verdicts(checkpoint: Checkpoint): Promise<Verdict[]> {
  const all: Verdict[] = [];
  for (const task of Object.keys(kTasks) as Task[]) all.push({ task, refused: await refusal(task, checkpoint) });
  return all;
}

/** The engine's maximum. */
const kMostLabels = 65_536;

/** Label names; LABEL_0, LABEL_1, ... if config.json has only their number. */
export function labelsOf({ config }: Checkpoint): string[] {
  const names = config.id2label;
  if (typeof names === 'object' && names !== null)
    return Object.values(names).map((name) => (typeof name === 'string' ? name : show(name)));
  const count = numberOf(config.num_labels, 2);
  return count <= kMostLabels ? Array.from({ length: count }, (_, index) => `LABEL_${index}`) : []; // the engine rejects more
}

/** Checks the labels for zero-shot classification, which the engine checks only in a call. */
function unfitLabels(task: Task, labels: string[]): Verdict['refused'] {
  if (task === 'zero-shot-classification' && !labels.some((label) => /^entail/i.test(label))) {
    return { code: 'unsupported', message: 'no label is called entailment: the model was not trained for natural language inference' };
  }
  return undefined;
}

async function refusal(task: Task, checkpoint: Checkpoint): Promise<Verdict['refused']> {
  // If files are missing, the engine can check a checkpoint for every task except GLiNER's.
  const refused = checkpoint.lacks.length > 0 && isGlinerTask(task) ? undefined : await engineRefusal(task, checkpoint);
  if (refused !== undefined) return { ...refused, message: refused.message + ownCode(refused, checkpoint) };
  if (checkpoint.lacks.length > 0) return { code: 'not_found', message: checkpoint.lacks.join(' ') };
  if (checkpoint.tokenizer.length > 0) return undefined;
  const names = kVocabularies.map((files) => files.join(' with ')).join(', ');
  return { code: 'not_found', message: `there is no tokenizer that Peruse reads, none of ${names}` };
}

function isGlinerTask(task: Task): boolean {
  return engineTask(task) === 'zero-shot-token-classification';
}

function ownCode({ code }: { code: string }, { config }: Checkpoint): string {
  if (code !== 'unsupported' || config.auto_map === undefined) return '';
  return '; the repository brings Python code of its own for it (auto_map), which is never run';
}

export async function programOf(task: Task, { configBytes }: Checkpoint): Promise<string> {
  return withModel(task, 'auto', configBytes, (engine) => Promise.resolve(engine.program()));
}

async function engineRefusal(task: Task, checkpoint: Checkpoint): Promise<Verdict['refused']> {
  try {
    await withModel(task, 'auto', checkpoint.configBytes, async (engine) => engine.feedWeights(checkpoint.header));
    return checkpoint.config.model_type === 'GLiClass' ? undefined : unfitLabels(task, labelsOf(checkpoint));
  } catch (error) {
    if (!(error instanceof PeruseError)) throw error;
    return { code: error.code, message: error.message };
  }
}
