import { PeruseError, throwIfAborted } from '../errors.js';
import { ByteReporter, type ProgressCallback, type Totals } from '../progress.js';
import { joined } from './file_bytes.js';
import { explainMissing } from './model_files.js';
import type { ModelFile, ModelFolder } from './source.js';

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

export async function readThoseThere(reading: Reading, names: readonly string[]): Promise<ReadFile[]> {
  const files = await Promise.all(
    names.map(async (name) => {
      const file = await reading.folder.open(name, reading.signal);
      return file.found ? [await readWhole(reading, name, file)] : [];
    }),
  );
  return files.flat();
}

/** Reads the first of the files that exists, and requests no other. */
export async function readFirstThere(reading: Reading, names: readonly string[]): Promise<ReadFile[]> {
  for (const name of names) {
    const found = await readThoseThere(reading, [name]);
    if (found.length > 0) return found;
  }
  return [];
}

export async function readNeeded(reading: Reading, name: string): Promise<ReadFile> {
  const file = await reading.folder.open(name, reading.signal);
  if (!file.found) throw await explainMissing(reading.folder, [file], reading.signal);
  return readWhole(reading, name, file);
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
