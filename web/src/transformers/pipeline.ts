// pipeline() as in transformers.js: with default models, and a tokenizer whose calls are synchronous.
import {
  type Pipeline as AnyPipeline,
  type FeatureExtractionCall,
  type FeatureExtractionOptions,
  type FeatureExtractionOutput,
  type FeaturesList,
  pipeline as open,
  PeruseError,
  type PipelineOptionsOf,
  type ResolvedTask,
  type Source,
  type Task,
  type TaskCall,
  type TaskOrAlias,
  Tensor,
} from '../face.js';
import { kDefaults } from './known_names.js';
import { modelOfPipeline, ofTokens, type PreTrainedModel } from './models.js';
import { AutoTokenizer, type PreTrainedTokenizer, type PreTrainedTokenizerOptions, withCall } from './tokenizers.js';

/** The class of all pipelines, for `instanceof`. */
export const Pipeline = class {
  /** Throws 'unsupported': pipeline() makes pipelines. */
  constructor() {
    throw new PeruseError('unsupported', 'Use pipeline(task, model) to make a pipeline.');
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'function' && kPipelines.has(value);
  }
};

/** A pipeline of peruse, with the tokenizer of `AutoTokenizer`, which runs in the caller's thread, and a model that reads what it returns. */
export type Pipeline<T extends Task = Task> = CallOf<T> &
  Omit<AnyPipeline<T>, 'tokenizer' | 'model'> & { readonly tokenizer: PreTrainedTokenizer; readonly model: PreTrainedModel };

const kPipelines = new WeakSet<object>();

type CallOf<T extends Task> = TaskCall<T> extends FeatureExtractionCall ? PaddedFeatures : TaskCall<T>;

/** The call of feature extraction. Several texts without pooling are one tensor [texts, tokens, hidden size], with zeros for padding. */
export interface PaddedFeatures {
  <I extends string | readonly string[], const O extends FeatureExtractionOptions = Record<never, never>>(
    texts: I,
    options?: O,
  ): Promise<Padded<FeatureExtractionOutput<I, O>, O>>;
}

type Padded<R, O> = R extends FeaturesList ? (O extends { pooling: 'multi_vector' } ? R : Tensor) : R;

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
  const made = withCall(behaving(pipe) as object, { tokenizer, dispose, ...asyncDispose }) as unknown as Pipeline;
  kPipelines.add(made);
  return made;
}

/** A list of results without pooling as one tensor. */
function padded(found: unknown): unknown {
  if (!Array.isArray(found) || found.length === 0 || !found.every((one) => one instanceof Tensor)) return found;
  const rows = (found as Tensor[]).map((values) => ({ values, positions: [...Array(values.length).keys()] }));
  return ofTokens(rows, Math.max(...rows.map(({ values }) => values.length)));
}

/** The functions of scores by `problem_type` of the configuration. transformers' classifiers look at it at each call. */
const kFunctions: Readonly<Record<string, string>> = {
  multi_label_classification: 'sigmoid',
  single_label_classification: 'softmax',
  regression: 'none',
};

const fixed = (name: string, value: unknown): PropertyDescriptor => ({
  get: () => value,
  set() {
    throw new PeruseError('unsupported', `config.${name} can't be changed after the load. pipeline() takes { config: { id2label } }.`);
  },
});

/**
 * The pipeline as transformers.js's behaves. It has a configuration of its own, because pipelines of one engine share theirs. A program can change
 * its `problem_type`. Setting another member throws, because it would have no effect. Features of several texts are one tensor.
 */
function behaving(pipe: AnyPipeline): AnyPipeline {
  const config: Record<string, unknown> = { ...pipe.model.config };
  const loaded = config.problem_type;
  for (const [name, value] of Object.entries(config)) if (name !== 'problem_type') Object.defineProperty(config, name, fixed(name, value));
  Object.assign(pipe, { model: Object.assign(modelOfPipeline(pipe), { config }) });
  if (pipe.task === 'feature-extraction') {
    return new Proxy(pipe, {
      async apply(target, _, [texts, options]) {
        const found: unknown = await Reflect.apply(target as never, undefined, [texts, options]);
        return (options as FeatureExtractionOptions | undefined)?.pooling === 'multi_vector' ? found : padded(found);
      },
    });
  }
  if (pipe.task !== 'text-classification') return pipe;
  return new Proxy(pipe, {
    apply(target, _, [texts, options, ...rest]) {
      const changed = config.problem_type === loaded ? undefined : kFunctions[String(config.problem_type)];
      return Reflect.apply(target as never, undefined, [texts, changed ? { function_to_apply: changed, ...options } : options, ...rest]);
    },
  });
}
