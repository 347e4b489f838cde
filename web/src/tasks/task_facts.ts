// Facts about tasks, by name: the models that they read, and the options and members of their pipelines.
import type { Task } from './tasks.js';

/** Ends of the names of classes with a head for the task. The first is the task's own. */
const kClasses: Partial<Record<Task, readonly [string, ...string[]]>> = {
  'text-classification': ['ForSequenceClassification'],
  'zero-shot-classification': ['ForSequenceClassification'],
  'text-ranking': ['ForSequenceClassification'],
  'question-answering': ['ForQuestionAnswering'],
  'token-classification': ['ForTokenClassification'],
  'fill-mask': ['ForMaskedLM', 'ForPreTraining'],
  'multiple-choice': ['ForMultipleChoice'],
};

/** Whether one of the classes has a head for the task; undefined if the task does not depend on the class. */
export function hasHead(task: string, classes: readonly string[]): boolean | undefined {
  return kClasses[task as Task]?.some((end) => classes.some((name) => name.endsWith(end)));
}

/** The task of the classes in config.json. */
export function taskOfClasses(classes: readonly string[]): Task {
  const [task = kEmbedding] = Object.entries(kClasses).find(([, [own]]) => classes.some((name) => name.endsWith(own))) ?? [];
  return task as Task;
}

/** The task that reads sentence-transformers' modules, and static embeddings. */
export const kEmbedding = 'feature-extraction';

/** The only task whose models have a configuration file of their own. */
export const kGliner = 'zero-shot-token-classification';

/** The task whose models read the labels, or were trained for natural language inference. */
export const kZeroShot = 'zero-shot-classification';

/** Whether models of the task may have a tokenizer for labels. */
export function readsLabels(task: string): boolean {
  return task === kZeroShot || task === kGliner;
}

/** The files of sentence-transformers that a task reads: all, only the prompts, or all if config.json names no class with its head. */
export const kSentenceFiles: Readonly<Record<string, 'all' | 'prompts' | 'without head'>> = {
  [kEmbedding]: 'all',
  'text-ranking': 'prompts',
  'text-classification': 'without head',
};

/** Tasks with explain(). */
export const kExplained: readonly Task[] = ['text-classification', kZeroShot, 'text-ranking', 'question-answering'];

/** Tasks without stream(): their input is one query or prompt. */
export const kOneInput: readonly Task[] = ['text-ranking', 'multiple-choice'];

const kLabelled: readonly Task[] = ['text-classification', 'token-classification', kZeroShot, 'text-ranking', 'redact'];
const kLabelReaders: readonly Task[] = [kZeroShot, kGliner, 'redact'];

/** The tasks that have an option of pipeline(), if not all have it. */
export const kTasksWith: Readonly<Record<string, readonly Task[]>> = {
  encoder: kLabelReaders,
  enhanced_mask_decoder: ['fill-mask'],
  fail_closed: ['redact'],
  finders: ['redact'],
  id2label: kLabelled,
  labels: ['redact'],
  labels_encoder: kLabelReaders,
  patterns: ['redact'],
};
