// What was learnt: a model that can be used, saved, and let go of.
import { PeruseError, show, toPeruseError } from '../errors.js';
import { type Pipeline, type PipelineOptions, pipeline } from '../pipeline.js';
import type { FileContent } from '../sources/source_files.js';
import type { TeachTask } from './examples.js';
import type { LessonResult, TeachReport } from './report.js';

/** What a taught model's pipeline does. */
export type TaughtTask = TeachTask | 'fill-mask' | 'replaced-token-detection';

/** The part of a FileSystemDirectoryHandle that saving uses. */
export interface WritableDirectory {
  /** Of pre-training with a generator, which has a folder of its own. */
  getDirectoryHandle?(name: string, options: { create: true }): Promise<WritableDirectory>;
  getFileHandle(
    name: string,
    options: { create: true },
  ): Promise<{ createWritable(): Promise<{ write(content: Uint8Array<ArrayBuffer>): Promise<void>; close(): Promise<void> }> }>;
}

/** A model that was taught. */
export interface Taught<T extends TaughtTask = TeachTask> {
  readonly task: T;
  /** Losses, figures of each epoch, time, memory. */
  readonly report: TeachReport;
  /**
   * The model as files, by name: config.json, model.safetensors and the tokenizer's; after 'lora' the adapter's
   * (adapter_config.json, adapter_model.safetensors), config.json with the labels, and the tokenizer's. After replaced-token detection also the generator's, under generator/.
   */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** A pipeline of the model, from memory: nothing is fetched. It is a model of its own, to be disposed of by itself. */
  pipeline(options?: PipelineOptions): Promise<Pipeline<T>>;
  /** Writes `files` to a directory (of `showDirectoryPicker()` or the page's own file system), in Node to a folder by its path. */
  save(to: WritableDirectory | string): Promise<void>;
  /** Lets go of the files. Pipelines that were made stay. */
  dispose(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Writes files to a folder on disk, where there are such. */
export type SaveToDisk = (folder: string, files: ReadonlyMap<string, Uint8Array>) => Promise<void>;

type Files = Map<string, Uint8Array<ArrayBuffer>>;

export function assembleTaught<T extends TaughtTask>(task: T, result: LessonResult, saveToDisk: SaveToDisk | undefined): Taught<T> {
  let lesson: LessonResult | undefined = result;
  const held = () => {
    if (lesson === undefined) throw new PeruseError('disposed', 'What was taught was disposed of.');
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
      return pipeline(task, source, adapter === undefined ? options : { ...options, adapter }) as unknown as Promise<Pipeline<T>>;
    },
    async save(to: WritableDirectory | string) {
      const files = filesOf(held());
      try {
        if (typeof to !== 'string') await saveToHandle(to, files);
        else if (saveToDisk) await saveToDisk(to, files);
        else throw new PeruseError('unsupported', 'A page has no folders by name: give a directory handle, or use `files`.');
      } catch (error) {
        throw toPeruseError(error);
      }
    },
    dispose,
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}), // Browsers learnt it in 2025.
  };
  return taught as unknown as Taught<T>;
}

/** Beside what was made, the tokenizer's files as they came. */
function filesOf({ made, texts }: LessonResult): Files {
  return new Map([...texts, ...made]);
}

/** What a pipeline loads. An adapter goes on the weights that it was taught on. */
function sourcesOf({ made, texts, base }: LessonResult): { source: Map<string, FileContent>; adapter?: Map<string, FileContent> } {
  if (base === undefined) return { source: new Map([...texts, ...made].filter(([file]) => !file.includes('/'))) };
  const config = made.get('config.json');
  const source = new Map<string, FileContent>([...texts, ...(config ? [['config.json', config] as const] : []), ...base]);
  return { source, adapter: new Map([...made].filter(([file]) => file !== 'config.json')) };
}

async function saveToHandle(directory: WritableDirectory, files: Files): Promise<void> {
  if (typeof directory?.getFileHandle !== 'function') {
    throw new PeruseError('invalid_argument', `save() takes a directory handle or the path of a folder, not ${show(directory)}.`);
  }
  for (const [path, content] of files) {
    const [name, folder] = path.split('/').reverse() as [string, string?];
    if (folder !== undefined && !directory.getDirectoryHandle) {
      throw new PeruseError('invalid_argument', `The directory handle has no getDirectoryHandle(), which ${path} needs.`);
    }
    const within = folder === undefined ? directory : await directory.getDirectoryHandle!(folder, { create: true });
    const stream = await (await within.getFileHandle(name, { create: true })).createWritable();
    await stream.write(content);
    await stream.close(); // Only now there is something of the file.
  }
}
