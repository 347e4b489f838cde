// Loads a model, in this order:
//   1. the engine's build starts while config.json and the tokenizer's files are read;
//   2. the engine opens them, which refuses what it can't run before the weights cost anything;
//   3. model.safetensors goes to the engine chunk by chunk as it arrives; it is never whole in JavaScript's memory;
//   4. the engine checks that nothing is missing.
import type { Engine, WeightReport } from './engine.js';
import { PeruseError, throwIfAborted } from './errors.js';
import { ByteReporter, type ProgressCallback } from './progress.js';
import type { MissingFile, ModelFile, ModelFolder } from './source.js';

export interface LoadReport {
  /** Bytes read: all files. */
  bytes: number;
  /** From the call to the first possible run. */
  milliseconds: number;
  /** The engine's account of the weights: heads found, tensors unused, precision. */
  weights: WeightReport;
}

export interface LoadJob {
  task: string;
  dtype: string;
  /** How the caller named the model. */
  name: string;
  folder: ModelFolder;
  startEngine: () => Promise<Engine>;
  report: ProgressCallback;
  signal: AbortSignal;
}

/** The tokenizer: the first of these that is there. Only tokenizer.json says everything. */
const kVocabularies = [['tokenizer.json'], ['vocab.txt'], ['spm.model'], ['vocab.json', 'merges.txt']];
const kOptionalFiles = ['tokenizer_config.json'];
const kOptionalBesideVocabulary = ['added_tokens.json', 'special_tokens_map.json'];
const kWeightsFile = 'model.safetensors';

interface NamedFile {
  name: string;
  content: Uint8Array;
}

export async function loadModel(job: LoadJob): Promise<{ engine: Engine; report: LoadReport }> {
  const start = performance.now();
  const starting = job.startEngine();
  try {
    const [texts, engine] = await Promise.all([readTexts(job), starting]);
    throwIfAborted(job.signal);
    let bytes = 0;
    for (const { name, content } of texts) {
      engine.addFile(name, content);
      bytes += content.length;
    }
    engine.open({ task: job.task, dtype: job.dtype });
    bytes += await feedWeights(job, engine);
    const weights = await engine.finishWeights();
    return { engine, report: { bytes, milliseconds: performance.now() - start, weights } };
  } catch (error) {
    starting.then((started) => started.dispose()).catch(() => {});  // `error` says what went wrong; this only cleans up.
    throw error;
  }
}

async function readTexts(job: LoadJob): Promise<NamedFile[]> {
  const found = await Promise.all([readNeeded(job, 'config.json'), readVocabulary(job), readThoseThere(job, kOptionalFiles)]);
  return found.flat();
}

async function readThoseThere(job: LoadJob, names: string[]): Promise<NamedFile[]> {
  const files = await Promise.all(names.map(async (name) => {
    const file = await job.folder.open(name, job.signal);
    return file.found ? [await readWhole(job, name, file)] : [];
  }));
  return files.flat();
}

async function readNeeded(job: LoadJob, name: string): Promise<NamedFile> {
  const file = await job.folder.open(name, job.signal);
  if (!file.found) throw notFound([file]);
  return readWhole(job, name, file);
}

async function readVocabulary(job: LoadJob): Promise<NamedFile[]> {
  const missing: MissingFile[] = [];
  for (const [first, ...rest] of kVocabularies) {
    const file = await job.folder.open(first!, job.signal);
    if (!file.found) {
      missing.push(file);
      continue;
    }
    const found = await Promise.all([
      readWhole(job, first!, file),
      ...rest.map((name) => readNeeded(job, name)),
      first === 'tokenizer.json' ? [] : readThoseThere(job, kOptionalBesideVocabulary),
    ]);
    return found.flat();
  }
  throw notFound(missing);
}

function notFound(missing: MissingFile[]): PeruseError {
  const list = missing.map(({ where, why }) => `${where} (${why})`).join(' nor ');
  return new PeruseError('not_found', missing.length > 1 ? `Found neither ${list}.` : `Did not find ${list}.`);
}

async function readWhole(job: LoadJob, name: string, file: ModelFile): Promise<NamedFile> {
  const parts: Uint8Array[] = [];
  let length = 0;
  await eachChunk(job, name, file, (chunk) => {
    parts.push(chunk.slice());  // A chunk is valid only until the next.
    length += chunk.length;
  });
  const content = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    content.set(part, offset);
    offset += part.length;
  }
  if (name.endsWith('.json')) refuseHtml(file.where, content);
  return { name, content };
}

/** A page where JSON should be is the commonest sign of a wrong address: better said than "unexpected '<'". */
function refuseHtml(where: string, content: Uint8Array): void {
  const first = content.find((byte) => byte > 0x20);
  if (first === 0x3c) throw new PeruseError('malformed_file', `${where} is an HTML page, not JSON: is the address right?`);
}

async function eachChunk(job: LoadJob, name: string, file: ModelFile, take: (chunk: Uint8Array) => void | Promise<void>): Promise<number> {
  const reporter = new ByteReporter(job.report, job.name, name, file.size);
  reporter.start();
  let loaded = 0;
  for await (const chunk of file.chunks()) {
    throwIfAborted(job.signal);
    await take(chunk);
    loaded += chunk.length;
    reporter.add(chunk.length);
  }
  throwIfAborted(job.signal);
  reporter.finish();
  return loaded;
}

async function feedWeights(job: LoadJob, engine: Engine): Promise<number> {
  const file = await job.folder.open(kWeightsFile, job.signal);
  if (!file.found) throw await explainMissingWeights(job, file);
  return eachChunk(job, kWeightsFile, file, (chunk) => engine.feedWeights(chunk));
}

/** What stands where model.safetensors should, and what to do about it. */
async function explainMissingWeights(job: LoadJob, missing: MissingFile): Promise<PeruseError> {
  if (await isThere(job, 'model.safetensors.index.json')) {
    return new PeruseError('unsupported', `${job.name} is split over several safetensors files, which Peruse does not read yet; ` +
      'save it as one model.safetensors (save_pretrained with a large max_shard_size).');
  }
  if (await isThere(job, 'pytorch_model.bin')) {
    return new PeruseError('unsupported', `${job.name} has only pytorch_model.bin, a format that can run code when it is read; ` +
      'convert it once to model.safetensors: in Python, load it with its own class (for example ' +
      'AutoModelForSequenceClassification.from_pretrained) and call save_pretrained(folder, safe_serialization=True).');
  }
  return notFound([missing]);
}

async function isThere(job: LoadJob, name: string): Promise<boolean> {
  const file = await job.folder.open(name, job.signal);
  if (!file.found) return false;
  await file.close();
  return true;
}
