import { PeruseError, show, toPeruseError } from '../errors.js';
import { type Pipeline, pipeline } from '../pipeline.js';
import type { PipelineOptions, PipelineOptionsOf } from '../pipeline_options.js';
import { runtime } from '../platform/current.js';
import { checkSaveOptions, planSave, type SaveOptions } from '../sources/save_plan.js';
import { resolveSource, type Source, type SourceOptions, type SourceSpec } from '../sources/source.js';
import type { FileContent } from '../sources/source_files.js';
import { kClassification, kEmbedding } from '../tasks/tasks.js';
import type { PretrainedTask, TeachTask } from '../tasks/training.js';
import type { TeachExample } from './examples.js';
import type { TeachOptions } from './options.js';
import type { LessonResult, TeachReport } from './report.js';
import { type Suggestion, type SuggestModels, suggest } from './suggest.js';

export type { SaveOptions };

/** The task of a taught model's pipeline. */
export type TaughtTask = TeachTask | PretrainedTask;

/** A trained model. */
export interface Taught<T extends TaughtTask = TeachTask> {
  readonly task: T;
  /** Losses, metrics of each epoch, time, memory. */
  readonly report: TeachReport;
  /**
   * The model's files by name: config.json, model.safetensors and the tokenizer's. After 'lora': adapter_config.json,
   * adapter_model.safetensors, config.json with the labels, and the tokenizer's. After 'rtd' also the generator's, in generator/.
   */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** Loads the model from memory. The pipeline must be disposed of separately. */
  pipeline(options?: PipelineOptions): Promise<Pipeline<T>>;
  /**
   * Writes `files` to a directory handle, or in Node to a folder. If it holds a model, throws 'invalid_argument', or with
   * `overwrite: true` replaces that model completely. A folder that holds the original model is never replaced.
   */
  save(to: WritableDirectory | string, options?: SaveOptions): Promise<void>;
  /**
   * Trains the original model again, on the earlier examples and these: the result is that of one teach() with all of them. Options default
   * to the earlier ones, except the signal. Not after pretrain().
   */
  more(examples: readonly TeachExample<T & TeachTask>[], options?: TeachOptions<T & TeachTask>): Promise<Taught<T>>;
  /** Returns which of these unlabelled texts to label next, best first: uncertain ones that differ from each other. For text classification. */
  suggest(texts: readonly string[], count?: number): Promise<Suggestion[]>;
  /** Frees the files. Pipelines made from them keep working. */
  dispose(): Promise<void>;
  /** The same as dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The source of a loaded model. */
export class LoadedSource {
  constructor(readonly spec: SourceSpec) {}
}

/** Where a model comes from that is trained. */
export type Origin = Source | LoadedSource;

export async function specOf(origin: Origin, options: SourceOptions = {}): Promise<SourceSpec> {
  return origin instanceof LoadedSource ? origin.spec : resolveSource(origin, options, runtime().paths);
}

/** Writes files to a folder, unless it is that of a source in `madeFrom`. */
export type SaveToDisk = (
  folder: string,
  files: ReadonlyMap<string, Uint8Array>,
  options: SaveOptions,
  madeFrom: readonly Origin[],
) => Promise<void>;

type Files = Map<string, Uint8Array<ArrayBuffer>>;

export type TeachMore<T extends TaughtTask> = (
  examples: readonly TeachExample<T & TeachTask>[],
  options: TeachOptions<T & TeachTask>,
) => Promise<Taught<T>>;

const kSuggested = 10;

export function assembleTaught<T extends TaughtTask>(
  task: T,
  result: LessonResult,
  madeFrom: readonly Origin[],
  saveToDisk: SaveToDisk | undefined,
  teachMore?: TeachMore<T>,
): Taught<T> {
  let lesson: LessonResult | undefined = result;
  const held = () => {
    if (lesson === undefined) throw new PeruseError('disposed', 'The trained model was disposed of.');
    return lesson;
  };
  const dispose = async () => {
    lesson = undefined;
  };
  const taught = {
    task,
    report: result.report,
    get files() {
      return filesOf(held());
    },
    async pipeline(options: PipelineOptions = {}) {
      const { source, adapter } = sourcesOf(held());
      const all = adapter === undefined ? options : { ...options, adapter };
      return pipeline(task, source, all as PipelineOptionsOf<T>) as unknown as Promise<Pipeline<T>>;
    },
    async save(to: WritableDirectory | string, given: SaveOptions = {}) {
      const options = checkSaveOptions(given);
      const files = filesOf(held());
      try {
        if (typeof to !== 'string') await saveToHandle(to, files, options);
        else if (saveToDisk) await saveToDisk(to, files, options, madeFrom);
        else throw new PeruseError('unsupported', 'A page cannot write to a folder by its name: pass a directory handle, or use `files`.');
      } catch (error) {
        throw toPeruseError(error);
      }
    },
    async more(examples: readonly TeachExample<T & TeachTask>[], options: TeachOptions<T & TeachTask> = {}) {
      held();
      if (!teachMore) throw new PeruseError('unsupported', `more() is for models that teach() trained; this is a model for ${task}.`);
      return teachMore(examples, options);
    },
    async suggest(texts: readonly string[], count = kSuggested) {
      const { source, adapter } = sourcesOf(held());
      if (task !== kClassification)
        throw new PeruseError('unsupported', `suggest() is for ${kClassification}; this is a model for ${task}.`);
      const load = adapter === undefined ? {} : { adapter };
      return suggest(suggestModels(source, load), texts, count, severalLabels(result));
    },
    dispose,
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}), // the symbol is missing in browsers before 2025
  };
  return taught as unknown as Taught<T>;
}

function filesOf({ made, texts }: LessonResult): Files {
  return new Map([...texts, ...made]);
}

/** Sources of a pipeline. An adapter needs the weights on which it was trained. */
function sourcesOf({ made, texts, base }: LessonResult): { source: Map<string, FileContent>; adapter?: Map<string, FileContent> } {
  if (base === undefined) return { source: new Map([...texts, ...made].filter(([file]) => !file.startsWith('generator/'))) };
  const source = new Map<string, FileContent>([...texts, ...base]);
  return { source, adapter: made };
}

function severalLabels({ made }: LessonResult): boolean {
  const { problem_type: problem } = JSON.parse(new TextDecoder().decode(made.get('config.json'))) as { problem_type?: string };
  if (problem === 'regression') throw new PeruseError('unsupported', 'suggest() is for labels; this model gives numbers.');
  return problem === 'multi_label_classification';
}

function suggestModels(source: Map<string, FileContent>, load: PipelineOptions): SuggestModels {
  return {
    async classify(texts) {
      const classify = await pipeline(kClassification, source, load);
      try {
        return await classify(texts, { top_k: null, truncation: true });
      } finally {
        await classify.dispose();
      }
    },
    async embed(texts) {
      const embed = await pipeline(kEmbedding, source, load);
      try {
        const found = await embed(texts, { pooling: 'mean', normalize: true, truncation: true });
        return [...found].map(({ data }) => data);
      } finally {
        await embed.dispose();
      }
    },
  };
}

/** The part of FileSystemDirectoryHandle that save() uses. */
export interface WritableDirectory {
  /** Creates a subfolder, for generators and sentence embedders. */
  getDirectoryHandle?(name: string, options: { create: true }): Promise<WritableDirectory>;
  getFileHandle(
    name: string,
    options: { create: true },
  ): Promise<{ createWritable(): Promise<{ write(content: Uint8Array<ArrayBuffer>): Promise<void>; close(): Promise<void> }> }>;
  /** With `keys` and `removeEntry`, save() detects another model in the directory. */
  keys?(): AsyncIterable<string>;
  removeEntry?(name: string): Promise<void>;
}

/** Completes when the last save of this thread has ended: two handles may name the same directory. */
let last: Promise<void> = Promise.resolve();

export async function saveToHandle(
  directory: WritableDirectory,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  options: SaveOptions = {},
): Promise<void> {
  if (typeof directory?.getFileHandle !== 'function') {
    throw new PeruseError('invalid_argument', `save() takes a directory handle or the path of a folder, not ${show(directory)}.`);
  }
  const own = last.then(() => writeAll(directory, files, options));
  last = own.catch(() => {});
  return own;
}

async function writeAll(
  directory: WritableDirectory,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  options: SaveOptions,
): Promise<void> {
  const present: string[] = [];
  if (directory.keys && directory.removeEntry) for await (const name of directory.keys()) present.push(name);
  const { removed, written } = planSave([...files.keys()], present, 'The directory', options);
  for (const path of written) {
    if (path.includes('/') && !directory.getDirectoryHandle) {
      throw new PeruseError('invalid_argument', `The directory handle has no getDirectoryHandle(), which ${path} needs.`);
    }
  }
  for (const name of removed) await directory.removeEntry!(name);
  for (const path of written) {
    const [name, folder] = path.split('/').reverse() as [string, string?];
    const within = folder === undefined ? directory : await directory.getDirectoryHandle!(folder, { create: true });
    const stream = await (await within.getFileHandle(name, { create: true })).createWritable();
    await stream.write(files.get(path)!);
    await stream.close(); // the file appears in the folder only now
  }
}
