// The tasks: one map from names to the functions that make their calls. All types of pipelines are derived from it.
import { featureExtraction } from './feature_extraction.js';
import { fillMask } from './fill_mask.js';
import { multipleChoice } from './multiple_choice.js';
import { questionAnswering } from './question_answering.js';
import { redact } from './redact.js';
import { replacedTokenDetection } from './replaced_token_detection.js';
import { textClassification } from './text_classification.js';
import { textRanking } from './text_ranking.js';
import { tokenClassification } from './token_classification.js';
import { zeroShotClassification } from './zero_shot_classification.js';
import { zeroShotTokenClassification } from './zero_shot_token_classification.js';

export const kTasks = {
  'text-classification': textClassification,
  'question-answering': questionAnswering,
  'token-classification': tokenClassification,
  'zero-shot-classification': zeroShotClassification,
  'zero-shot-token-classification': zeroShotTokenClassification,
  'fill-mask': fillMask,
  'feature-extraction': featureExtraction,
  'text-ranking': textRanking,
  'multiple-choice': multipleChoice,
  'replaced-token-detection': replacedTokenDetection,
  redact,
};

/** A published model for each task: what a message names to a caller who named none. Nothing is loaded that the caller did not name. */
export const kExampleModels: Partial<Record<Task, string>> = {
  'text-classification': 'distilbert/distilbert-base-uncased-finetuned-sst-2-english',
  'question-answering': 'deepset/minilm-uncased-squad2',
  'token-classification': 'dslim/bert-base-NER',
  'zero-shot-classification': 'MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33',
  'zero-shot-token-classification': 'knowledgator/gliner-pii-base-v1.0',
  'fill-mask': 'distilbert/distilbert-base-uncased',
  'feature-extraction': 'sentence-transformers/all-MiniLM-L6-v2',
  'text-ranking': 'cross-encoder/ms-marco-MiniLM-L6-v2',
  'replaced-token-detection': 'google/electra-small-discriminator',
  redact: 'iiiorg/piiranha-v1-detect-personal-information',
};

/** Returns the engine's name of a task: `redact` reads entities, with labels (GLiNER) or without. */
export function engineTask(task: Task, { labels }: { labels?: unknown } = {}): string {
  if (task !== 'redact') return task;
  return labels === undefined ? 'token-classification' : 'zero-shot-token-classification';
}

/** Other names, which transformers.js takes too. */
export const kAliases = {
  'sentiment-analysis': 'text-classification',
  ner: 'token-classification',
} as const;

/** A task. */
export type Task = keyof typeof kTasks;
/** A task, or another name for one. */
export type TaskOrAlias = Task | keyof typeof kAliases;
/** The task that a name or another name stands for. */
export type ResolvedTask<T extends TaskOrAlias> = T extends keyof typeof kAliases ? (typeof kAliases)[T] : Extract<T, Task>;

/** How a task's pipeline is called. */
export type TaskCall<T extends Task> = ReturnType<(typeof kTasks)[T]>;
