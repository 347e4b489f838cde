// Maps the name of each task to the function that creates its call. All types of pipelines are derived from this map.
import type { Explaining } from './explanations.js';
import { featureExtraction } from './feature_extraction.js';
import { fillMask } from './fill_mask.js';
import { multipleChoice } from './multiple_choice.js';
import { questionAnswering } from './question_answering.js';
import { redact } from './redact.js';
import { replacedTokenDetection } from './replaced_token_detection.js';
import type { Streaming } from './streams.js';
import { structuredExtraction } from './structured_extraction.js';
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
  'structured-extraction': structuredExtraction,
  'fill-mask': fillMask,
  'feature-extraction': featureExtraction,
  'text-ranking': textRanking,
  'multiple-choice': multipleChoice,
  'replaced-token-detection': replacedTokenDetection,
  redact,
};

/** An example model for each task, for the error message if the caller named no model. It is never loaded. */
export const kExampleModels: Partial<Record<Task, string>> = {
  'text-classification': 'distilbert/distilbert-base-uncased-finetuned-sst-2-english',
  'question-answering': 'deepset/minilm-uncased-squad2',
  'token-classification': 'dslim/bert-base-NER',
  'zero-shot-classification': 'MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33',
  'zero-shot-token-classification': 'knowledgator/gliner-pii-base-v1.0',
  'structured-extraction': 'fastino/gliner2-base-v1',
  'fill-mask': 'distilbert/distilbert-base-uncased',
  'feature-extraction': 'sentence-transformers/all-MiniLM-L6-v2',
  'text-ranking': 'cross-encoder/ms-marco-MiniLM-L6-v2',
  'replaced-token-detection': 'google/electra-small-discriminator',
  redact: 'iiiorg/piiranha-v1-detect-personal-information',
};

/** Returns the engine's name of a task: `redact` uses a tagger, or with labels a GLiNER. */
export function engineTask(task: Task, { labels }: { labels?: unknown } = {}): string {
  if (task !== 'redact') return task;
  return labels === undefined ? 'token-classification' : 'zero-shot-token-classification';
}

/** Names of tasks in transformers.js that differ from Peruse's. */
export const kAliases = {
  'sentiment-analysis': 'text-classification',
  ner: 'token-classification',
} as const;

/** The name of a task. */
export type Task = keyof typeof kTasks;
/** The name of a task, or an alias. */
export type TaskOrAlias = Task | keyof typeof kAliases;
/** The task of a name or alias. */
export type ResolvedTask<T extends TaskOrAlias> = T extends keyof typeof kAliases ? (typeof kAliases)[T] : Extract<T, Task>;

/** The signature of a task's pipeline. */
export type TaskCall<T extends Task> = ReturnType<(typeof kTasks)[T]> & Streaming<T> & Explaining<T>;
