// The definition of each task by name. All types of pipelines are derived from this map.
import type { EngineTask, OwnLoadOption, TaskDefinition } from './definition.js';
import type { Explaining } from './explanations.js';
import { featureExtraction } from './feature_extraction.js';
import { fillMask } from './fill_mask.js';
import { multipleChoice } from './multiple_choice.js';
import { questionAnswering } from './question_answering.js';
import { redaction } from './redact.js';
import { replacedTokenDetection } from './replaced_token_detection.js';
import type { Streaming } from './stream.js';
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
  redact: redaction,
};

/** Names of tasks in transformers.js that differ from Peruse's. */
export const kAliases = {
  'sentiment-analysis': 'text-classification',
  ner: 'token-classification',
  embeddings: 'feature-extraction',
} as const;

/** The name of a task. */
export type Task = keyof typeof kTasks;
/** The name of a task, or an alias. */
export type TaskOrAlias = Task | keyof typeof kAliases;
/** The task of a name or alias. */
export type ResolvedTask<T extends TaskOrAlias> = T extends keyof typeof kAliases ? (typeof kAliases)[T] : Extract<T, Task>;

type CallOf<T extends Task> = T extends Task ? ReturnType<(typeof kTasks)[T]['call']> : never;
type AllOf<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer All) => void ? All : never;
type GivenTo<C> = C extends (...given: infer A) => unknown ? A : never;
type ResultOf<C> = C extends (...given: never[]) => infer R ? R : never;
type CallOfAny<C> = (...given: Extract<AllOf<GivenTo<C>>, readonly unknown[]>) => ResultOf<C>;

/**
 * The signature of a task's pipeline. For a union of tasks: the arguments that all of them accept, and the result of any of them. Not
 * callable for the type of all tasks, which have no arguments in common.
 */
export type TaskCall<T extends Task> = ([T] extends [AllOf<T>] ? CallOf<T> : [Task] extends [T] ? CallOf<T> : CallOfAny<CallOf<T>>) &
  Streaming<T> &
  Explaining<T>;

/** Names of the options of pipeline() that only the task and few others have. */
export type OwnLoadOptionOf<T extends Task> = (typeof kTasks)[T] extends { loadOptions: readonly (infer O extends OwnLoadOption)[] }
  ? O
  : never;

/** The tasks by which teach() and shrinkCheckpoint() compare texts. */
export const kClassification = 'text-classification';
export const kEmbedding = 'feature-extraction';

export const kTaskNames = Object.keys(kTasks) as Task[];

export function definitionOf(task: Task): TaskDefinition {
  return kTasks[task];
}

/** Returns what the engine loads for a pipeline with these options. */
export function engineTask(task: Task, options: { labels?: unknown } = {}): EngineTask {
  const { engine } = definitionOf(task);
  return typeof engine === 'function' ? engine(options) : engine;
}

/** What the engine loads for each task. */
export const kEngineTasks: readonly EngineTask[] = [...new Set(kTaskNames.map((task) => engineTask(task)))];
