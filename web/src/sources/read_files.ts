import { PeruseError, throwIfAborted } from '../errors.js';
import { ByteReporter, type ProgressCallback, Totals } from '../progress.js';
import { joined } from './file_bytes.js';
import {
  explainMissing,
  kForms,
  kModules,
  kTokenAdditions,
  kTokenizerConfigs,
  kVocabularies,
  type ModelModule,
  modulesOf,
  notFound,
} from './model_files.js';
import { folderWithin, type MissingFile, type ModelFile, type ModelFolder } from './source.js';

/** Maximum size of a small file, in bytes. A larger one would exhaust memory before it could be rejected. */
const kLargestFile = 256 << 20;

export function checkLength(where: string, bytes: number): void {
  if (bytes <= kLargestFile) return;
  throw new PeruseError(
    'malformed_file',
    `${where} has more than ${kLargestFile >> 20} MB, which is too large for a configuration or a tokenizer.`,
  );
}

/** Reads a small file. Each chunk is copied, because it is only valid until the next one. */
export async function readSmall(file: ModelFile, onChunk?: (bytes: number) => void): Promise<Uint8Array> {
  if (file.size > kLargestFile) await file.close();
  checkLength(file.where, file.size);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.chunks()) {
    parts.push(chunk.slice());
    length += chunk.length;
    checkLength(file.where, length);
    onChunk?.(chunk.length);
  }
  return joined(parts);
}

export interface Reading {
  name: string;
  folder: ModelFolder;
  report: ProgressCallback;
  signal: AbortSignal;
  totals: Totals;
}

export interface NamedFile {
  name: string;
  content: Uint8Array;
}

/** A file as it was read. `where` is its location in messages. */
export interface ReadFile extends NamedFile {
  where: string;
}

/** A reading without progress reports. */
export function quietly(name: string, folder: ModelFolder, signal: AbortSignal): Reading {
  return { name, folder, report: () => {}, signal, totals: new Totals(kForms) };
}

export async function readTokenizer(reading: Reading): Promise<NamedFile[]> {
  return (await Promise.all([readVocabulary(reading), readThoseThere(reading, kTokenizerConfigs)])).flat();
}

export async function modulesIn(reading: Reading): Promise<ModelModule[]> {
  return modulesOf(await readThoseThere(reading, [kModules]));
}

/** The folder of the first module in modules.json, which holds the encoder. `prefix` is its path, with a slash at its end. */
export async function encoderWithin<R extends Reading>(reading: R): Promise<{ job: R; prefix: string } | undefined> {
  const [encoder] = await modulesIn(reading);
  if (encoder === undefined || encoder.folder === '') return undefined;
  const prefix = `${encoder.folder}/`;
  return { job: { ...reading, folder: folderWithin(reading.folder, prefix) }, prefix };
}

export interface Located<R extends Reading> {
  /** Reads the folder with config.json, tokenizer and weights. */
  job: R;
  config: NamedFile;
  /** The path of that folder in the model's: '', or with a slash at its end. */
  prefix: string;
}

/** Finds config.json, tokenizer and weights: in the folder, or in that of the first module in modules.json. */
export async function locate<R extends Reading>(reading: R): Promise<Located<R> & { config: ReadFile }> {
  const file = await reading.folder.open('config.json', reading.signal);
  if (file.found) return { job: reading, config: await readWhole(reading, 'config.json', file), prefix: '' };
  const within = await encoderWithin(reading);
  if (within === undefined) throw await explainMissing(reading.folder, [file], reading.signal);
  return { ...within, config: await readNeeded(within.job, 'config.json') };
}

export async function readThoseThere(reading: Reading, names: readonly string[]): Promise<ReadFile[]> {
  const files = await Promise.all(
    names.map(async (name) => {
      const file = await reading.folder.open(name, reading.signal);
      return file.found ? [await readWhole(reading, name, file)] : [];
    }),
  );
  return files.flat();
}

export async function readNeeded(reading: Reading, name: string): Promise<ReadFile> {
  const file = await reading.folder.open(name, reading.signal);
  if (!file.found) throw await explainMissing(reading.folder, [file], reading.signal);
  return readWhole(reading, name, file);
}

export async function readVocabulary(reading: Reading): Promise<NamedFile[]> {
  const missing: MissingFile[] = [];
  for (const [first, ...rest] of kVocabularies) {
    const file = await reading.folder.open(first, reading.signal);
    if (!file.found) {
      missing.push(file);
      continue;
    }
    const found = await Promise.all([
      readWhole(reading, first, file),
      ...rest.map((name) => readNeeded(reading, name)),
      first === 'tokenizer.json' ? [] : readThoseThere(reading, kTokenAdditions),
    ]);
    return found.flat();
  }
  throw notFound(missing);
}

export async function readWhole(reading: Reading, name: string, file: ModelFile): Promise<ReadFile> {
  const reporter = new ByteReporter(reading.report, reading.name, name, file.size, reading.totals);
  reporter.start();
  const content = await readSmall(file, (bytes) => {
    throwIfAborted(reading.signal);
    reporter.add(bytes);
  });
  throwIfAborted(reading.signal);
  reporter.finish();
  if (name.endsWith('.json')) refuseHtml(file.where, content);
  return { name, content, where: file.where };
}

/** Rejects HTML with a clear message, because a wrong address often returns a page. */
function refuseHtml(where: string, content: Uint8Array): void {
  const first = content.find((byte) => byte > 0x20);
  if (first === 0x3c) throw new PeruseError('malformed_file', `${where} is an HTML page, not JSON: is the address right?`);
}

/** Feeds all bytes of a file and reports progress. Returns their number. */
export async function feedFile(
  reading: Reading,
  name: string,
  file: ModelFile,
  feed: (chunk: Uint8Array) => void | Promise<void>,
): Promise<number> {
  const reporter = new ByteReporter(reading.report, reading.name, name, file.size, reading.totals);
  reporter.start();
  const bytes = await eachChunk(reading, file, reporter, feed);
  reporter.finish();
  return bytes;
}

export async function eachChunk(
  reading: Reading,
  file: ModelFile,
  reporter: ByteReporter,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<number> {
  let loaded = 0;
  for await (const chunk of file.chunks()) {
    throwIfAborted(reading.signal);
    await take(chunk);
    loaded += chunk.length;
    reporter.add(chunk.length);
  }
  throwIfAborted(reading.signal);
  return loaded;
}
