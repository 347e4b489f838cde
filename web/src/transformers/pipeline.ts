// pipeline() as in transformers.js: with default models, and a tokenizer whose calls are synchronous.
import {
  type Pipeline as AnyPipeline,
  pipeline as open,
  type PipelineOptionsOf,
  type ResolvedTask,
  type Source,
  type Task,
  type TaskCall,
  type TaskOrAlias,
  type Tensor,
} from '../face.js';
import { kDefaults } from './known_names.js';
import { modelOfPipeline, type PreTrainedModel } from './models.js';
import { AutoTokenizer, type PreTrainedTokenizer, type PreTrainedTokenizerOptions } from './tokenizers.js';

/** A pipeline of peruse, with the tokenizer of `AutoTokenizer`, which runs in the caller's thread, and a model that reads what it returns. */
export type Pipeline<T extends Task = Task> = TaskCall<T> &
  Omit<AnyPipeline<T>, 'tokenizer' | 'model'> & { readonly tokenizer: PreTrainedTokenizer; readonly model: PreTrainedModel<OutputTensors> };

/** What the model of a pipeline returns: the outputs of its head. */
export type OutputTensors = Record<string, Tensor>;

const kAliases: Readonly<Record<string, string>> = {
  'sentiment-analysis': 'text-classification',
  ner: 'token-classification',
  embeddings: 'feature-extraction',
} satisfies Record<Exclude<TaskOrAlias, Task>, Task>;

/** Loads a model for a task. Without a model it loads transformers.js's default, and a notice names it. */
export async function pipeline<T extends TaskOrAlias>(
  task: T,
  source?: Source | null,
  options: PipelineOptionsOf<T> = {},
): Promise<Pipeline<ResolvedTask<T>>> {
  const named = source ?? kDefaults[kAliases[task] ?? task];
  const pipe = (await open(task, named as Source, options)) as unknown as AnyPipeline;
  try {
    if (named !== source) (pipe.info.notices as string[]).push(`No model was named: ${String(named)} is transformers.js's default.`);
    return withTokenizer(pipe, await AutoTokenizer.from_pretrained(named as Source, shared(options))) as never;
  } catch (error) {
    await pipe.dispose();
    throw error;
  }
}

/** Options of loads that a tokenizer has, too. */
const kShared = ['revision', 'token', 'offline', 'local_files_only', 'cache_dir', 'signal'] as const;

function shared(options: object): PreTrainedTokenizerOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => (kShared as readonly string[]).includes(name)));
}

function withTokenizer(pipe: AnyPipeline, tokenizer: PreTrainedTokenizer): Pipeline {
  const { dispose: disposeModel } = pipe;
  const dispose = () => {
    tokenizer.dispose();
    return disposeModel();
  };
  const asyncDispose = Symbol.asyncDispose && { [Symbol.asyncDispose]: dispose };
  return Object.assign(followProblemType(pipe) as object, { tokenizer, dispose, ...asyncDispose }) as Pipeline;
}

/** The functions of scores by `problem_type` of the configuration. transformers' classifiers look at it at each call. */
const kFunctions: Readonly<Record<string, string>> = {
  multi_label_classification: 'sigmoid',
  single_label_classification: 'softmax',
  regression: 'none',
};

/**
 * Gives the pipeline a configuration of its own, because pipelines of one engine share theirs. A program can change its `problem_type`, as in
 * transformers.js. Setting another member throws, because it would have no effect.
 */
function followProblemType(pipe: AnyPipeline): AnyPipeline {
  const config: Record<string, unknown> = { ...pipe.model.config };
  const loaded = config.problem_type;
  for (const name of Object.keys(config)) if (name !== 'problem_type') Object.defineProperty(config, name, { writable: false });
  Object.assign(pipe, { model: Object.assign(modelOfPipeline(pipe), { config }) });
  if (pipe.task !== 'text-classification') return pipe;
  return new Proxy(pipe, {
    apply(target, _, [texts, options, ...rest]) {
      const changed = config.problem_type === loaded ? undefined : kFunctions[String(config.problem_type)];
      return Reflect.apply(target as never, undefined, [texts, changed ? { function_to_apply: changed, ...options } : options, ...rest]);
    },
  });
}
