// The tasks that teach() and pretrain() train models for.
import type { TrainingTask } from './definition.js';
import { definitionOf, kTaskNames, type kTasks, type Task } from './tasks.js';

type Definitions = typeof kTasks;

/** A task that teach() supports. */
export type TeachTask = { [T in Task]: Definitions[T] extends { teach: TrainingTask } ? T : never }[Task];

/** The task of teach() if neither the caller nor the model's class names one that can be taught. */
export type UsualTeachTask = 'text-classification';

/** What the examples of a task mark. */
export type ExamplesOf<T extends TeachTask> = Definitions[T]['teach']['examples'];

/** Objective of pre-training: predict masked words ('mlm'), or find words that a generator has replaced ('rtd'). */
export type PretrainObjective = 'mlm' | 'rtd';

/** The pipeline task of a pre-trained model. */
export type PretrainedTask<O extends PretrainObjective = PretrainObjective> = {
  [T in Task]: Definitions[T] extends { pretrain: { objective: O } } ? T : never;
}[Task];

export const kTeachTasks = kTaskNames.filter((task): task is TeachTask => definitionOf(task).teach !== undefined);

export function pretrainedTask<O extends PretrainObjective>(objective: O): PretrainedTask<O> | undefined {
  return kTaskNames.find((task) => definitionOf(task).pretrain?.objective === objective) as PretrainedTask<O> | undefined;
}
