// The form of a task's definition. Each task's file has one. The rest of the package derives types, options and the files to load from it.

import type { Schema } from '../options.js';
import type { LoadModelKit } from '../redact/model_kit.js';
import type { PipelineTokenizer } from './tokenizer_calls.js';

/** The part of a task that loads and describes models need: plain data, which is sent to workers. */
export interface EngineTask {
  /** The engine's name of the task. */
  readonly name: string;
  /** Ends of the names of classes with a head for the task, its own first. Without them, the task does not depend on the class. */
  readonly classes?: readonly string[];
  /** The files of sentence-transformers that the task reads: all, those of rankers, or all if config.json names no class with its head. */
  readonly sentenceFiles?: 'all' | 'prompts' | 'without head';
  /** Reads the chat template of a causal language model. */
  readonly readsTemplate?: true;
  /** Reads folders of static embeddings. */
  readonly readsStatic?: true;
  /** Reads the configuration of models that read labels (label_models.ts) instead of config.json, if it exists. */
  readonly labelConfig?: true;
  /** Models may have a tokenizer for labels. */
  readonly labelsTokenizer?: true;
}

/** The part of a task that training needs: plain data, which is sent to workers. */
export interface TrainingTask {
  /** The engine's name of the task. */
  readonly name: string;
  /** What an example marks: the labels of a text, its entities, or the answer in a context. Lines of plain text mark nothing. */
  readonly examples: 'labels' | 'entities' | 'answers' | 'lines';
  /** The model reads the labels with the text, so it can have any. */
  readonly readsLabels?: true;
}

/** Options of pipeline() that only some tasks have. */
export type OwnLoadOption =
  | 'encoder'
  | 'enhanced_mask_decoder'
  | 'fail_closed'
  | 'finders'
  | 'id2label'
  | 'labels'
  | 'labels_encoder'
  | 'lora_task'
  | 'patterns'
  | 'pooling'
  | 'route';

/** A text, or a pair with `text_pair`. */
export interface TextInput extends Record<string, string> {
  text: string;
}

/** Parts of a pipeline that a call may use in addition to the engine. */
export interface CallContext {
  /** The options of pipeline(). */
  defaults?: object;
  /** Adds a notice about the tokens of texts that were left out. */
  describeCuts?: (inputs: readonly TextInput[]) => Promise<void>;
  loadRedactKit: LoadModelKit;
  tokenizer?: PipelineTokenizer;
}

export interface TaskDefinition {
  readonly engine: EngineTask | ((options: { labels?: unknown }) => EngineTask);
  /** Creates the call of a pipeline, which sends requests to its engine. */
  readonly call: (...given: never[]) => unknown;
  /** The options of a call, from which the flags of the command line follow. */
  readonly options?: Schema;
  /** An example model, for the error message if the caller named no model. It is never loaded. */
  readonly example?: string;
  /** What does the task without a model, for the same message. */
  readonly withoutModel?: string;
  readonly loadOptions?: readonly OwnLoadOption[];
  /** teach() trains models for the task. */
  readonly teach?: TrainingTask;
  /** pretrain() trains models for the task. */
  readonly pretrain?: { readonly objective: 'mlm' | 'rtd'; readonly task: TrainingTask };
  /** The pipeline has explain(). The engine computes its gradients as for this task of training. */
  readonly explains?: 'text-classification' | 'question-answering';
  /** The input is one query or prompt, so the pipeline does not have stream(). */
  readonly oneInput?: true;
}

/** Whether one of the classes has a head for the task; undefined if the task does not depend on the class. */
export function hasHead({ classes: ends }: EngineTask, classes: readonly string[]): boolean | undefined {
  return ends?.some((end) => classes.some((name) => name.endsWith(end)));
}

/** Returns the task of the classes in config.json, or the one for models without a head. */
export function taskOfClasses(tasks: readonly EngineTask[], names: readonly string[]): EngineTask | undefined {
  const isOwn = ({ classes: [own] = [] }: EngineTask) => own !== undefined && names.some((name) => name.endsWith(own));
  return tasks.find(isOwn) ?? tasks.find(({ readsStatic }) => readsStatic);
}

/** Whether the model gets a classifier of its own for whole texts. */
export function hasClassifier({ examples, readsLabels }: TrainingTask): boolean {
  return examples === 'labels' && !readsLabels;
}

/** What a model that reads labels returns: spans of a label, the fields of a schema, or a score for each label. */
export type LabelReading = 'spans' | 'schema' | 'classes';

/** Tasks by what such a model returns. Here, because the worker does not contain tasks.ts. */
export const kTaskOfReading: Record<LabelReading, string> = {
  spans: 'zero-shot-token-classification',
  schema: 'structured-extraction',
  classes: 'zero-shot-classification',
};
