// Loads a model, in this order:
//   1. the engine's build starts while config.json and the tokenizer's files are read;
//   2. the engine opens them, which refuses what it can't run before the weights cost anything;
//   3. model.safetensors, or the shards that its index names, goes to the engine chunk by chunk as it arrives; it is never
//      whole in JavaScript's memory;
//   4. the engine checks that nothing is missing.
import type { Engine, WeightReport } from './engine.js';
import { PeruseError, throwIfAborted } from '../errors.js';
import type { Placement } from './placement.js';
import { ByteReporter, Totals, type ProgressCallback } from '../progress.js';
import type { MissingFile, ModelFile, ModelFolder } from '../sources/source.js';

export interface LoadReport {
  /** Bytes read: all files. */
  bytes: number;
  /** From the call to the first possible run. */
  milliseconds: number;
  /** The engine's account of the weights: heads found, tensors unused, precision. */
  weights: WeightReport;
  /** Where the model computes, and why. */
  placement: Placement;
  /** Of the weights as held: 'f32', 'f16' or 'q8'. */
  dtype: string;
}

export interface LoadJob {
  task: string;
  /** 'auto': q8 for a q8 checkpoint; for others f16 on a GPU (arithmetic is float32 there too), f32 on the CPU. */
  dtype: string;
  /** fill-mask through DeBERTa's decoder of pre-training. */
  enhancedMaskDecoder?: boolean;
  /** How the caller named the model. */
  name: string;
  folder: ModelFolder;
  /** Given the content of config.json, which it may need to choose a device. */
  startEngine: (config: Promise<Uint8Array>) => Promise<Engine>;
  report: ProgressCallback;
  signal: AbortSignal;
}

type Job = LoadJob & { totals: Totals };

/** The tokenizer: the first of these that is there. Only tokenizer.json says everything. */
const kVocabularies = [['tokenizer.json'], ['vocab.txt'], ['spm.model'], ['vocab.json', 'merges.txt']];
const kOptionalFiles = ['tokenizer_config.json'];
const kOptionalBesideVocabulary = ['added_tokens.json', 'special_tokens_map.json'];
const kWeightsFile = 'model.safetensors';
const kShardIndex = 'model.safetensors.index.json';

interface NamedFile {
  name: string;
  content: Uint8Array;
}

export async function loadModel(request: LoadJob): Promise<{ engine: Engine; report: LoadReport }> {
  const job = { ...request, totals: new Totals() };
  const start = performance.now();
  const config = readNeeded(job, 'config.json');
  const configBytes = config.then(({ content }) => content);
  configBytes.catch(() => {});  // readTexts reports it.
  const starting = job.startEngine(configBytes);
  try {
    const [texts, engine] = await Promise.all([readTexts(job, config), starting]);
    throwIfAborted(job.signal);
    let bytes = 0;
    for (const { name, content } of texts) {
      engine.addFile(name, content);
      bytes += content.length;
    }
    const { placement } = engine;
    await engine.open({ task: job.task, dtype: job.dtype, enhanced_mask_decoder: job.enhancedMaskDecoder });
    bytes += await feedWeights(job, engine);
    const weights = await engine.finishWeights();
    return { engine, report: { bytes, milliseconds: performance.now() - start, weights, placement, dtype: weights.dtype } };
  } catch (error) {
    starting.then((started) => started.dispose()).catch(() => {});  // `error` says what went wrong; this only cleans up.
    throw error;
  }
}

async function readTexts(job: Job, config: Promise<NamedFile>): Promise<NamedFile[]> {
  const found = await Promise.all([config, readVocabulary(job), readThoseThere(job, kOptionalFiles)]);
  return found.flat();
}

async function readThoseThere(job: Job, names: string[]): Promise<NamedFile[]> {
  const files = await Promise.all(names.map(async (name) => {
    const file = await job.folder.open(name, job.signal);
    return file.found ? [await readWhole(job, name, file)] : [];
  }));
  return files.flat();
}

async function readNeeded(job: Job, name: string): Promise<NamedFile> {
  const file = await job.folder.open(name, job.signal);
  if (!file.found) throw notFound([file]);
  return readWhole(job, name, file);
}

async function readVocabulary(job: Job): Promise<NamedFile[]> {
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

function notFound(missing: MissingFile[], reason = ''): PeruseError {
  const list = missing.map(({ where, why }) => `${where} (${why})`).join(' nor ');
  const code = missing.some(({ offline }) => offline) ? 'offline' : 'not_found';
  return new PeruseError(code, `${missing.length > 1 ? 'Found neither' : 'Did not find'} ${list}${reason}.`);
}

async function readWhole(job: Job, name: string, file: ModelFile): Promise<NamedFile> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reporter = new ByteReporter(job.report, job.name, name, file.size, job.totals);
  reporter.start();
  await eachChunk(job, file, reporter, (chunk) => {
    parts.push(chunk.slice());  // A chunk is valid only until the next.
    length += chunk.length;
  });
  reporter.finish();
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

async function eachChunk(
  job: Job, file: ModelFile, reporter: ByteReporter, take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<number> {
  let loaded = 0;
  for await (const chunk of file.chunks()) {
    throwIfAborted(job.signal);
    await take(chunk);
    loaded += chunk.length;
    reporter.add(chunk.length);
  }
  throwIfAborted(job.signal);
  return loaded;
}

async function feedWeights(job: Job, engine: Engine): Promise<number> {
  const file = await job.folder.open(kWeightsFile, job.signal);
  if (!file.found) return feedShards(job, engine, file);
  const reporter = new ByteReporter(job.report, job.name, kWeightsFile, file.size, job.totals);
  reporter.start();
  const bytes = await eachChunk(job, file, reporter, (chunk) => engine.feedWeights(chunk));
  reporter.finish();
  return bytes;
}

/** Weights in several files. Their progress is that of one file, model.safetensors, with the bytes of all. */
async function feedShards(job: Job, engine: Engine, missing: MissingFile): Promise<number> {
  const indexFile = await job.folder.open(kShardIndex, job.signal);
  if (!indexFile.found) throw await explainMissingWeights(job, missing);
  const index = await readWhole(job, kShardIndex, indexFile);
  const shards = engine.setShardIndex(index.content);
  const reporter = new ByteReporter(job.report, job.name, kWeightsFile, totalSize(index.content), job.totals);
  reporter.start();
  let bytes = index.content.length;
  for (const shard of shards) {
    const file = await job.folder.open(shard, job.signal);
    if (!file.found) throw notFound([file], `, which ${kShardIndex} names`);
    await naming(shard, async () => {
      bytes += await eachChunk(job, file, reporter, (chunk) => engine.feedWeights(chunk));
      engine.endShard();  // Says so if it was not whole.
    });
  }
  reporter.finish();
  return bytes;
}

/** The tensors' bytes, as the index gives them; 0 if it doesn't. Only progress depends on it. */
function totalSize(index: Uint8Array): number {
  const { metadata } = JSON.parse(new TextDecoder().decode(index)) as { metadata?: { total_size?: unknown } };
  const size = Number(metadata?.total_size);
  return Number.isSafeInteger(size) && size > 0 ? size : 0;
}

/** What the engine says of the weights, with the name of the shard. */
async function naming(shard: string, feed: () => Promise<void>): Promise<void> {
  try {
    await feed();
  } catch (error) {
    if (!(error instanceof PeruseError) || error.message.includes(shard)) throw error;
    throw new PeruseError(error.code, `${shard}: ${error.message}`, { cause: error });
  }
}

/** What stands where the weights should, and what to do about it. */
async function explainMissingWeights(job: Job, missing: MissingFile): Promise<PeruseError> {
  if (await isThere(job, 'pytorch_model.bin')) {
    return new PeruseError('unsupported', `${job.name} has only pytorch_model.bin, a format that can run code when it is read; ` +
      'convert it once to model.safetensors: in Python, load it with its own class (for example ' +
      'AutoModelForSequenceClassification.from_pretrained) and call save_pretrained(folder, safe_serialization=True).');
  }
  return notFound([missing]);
}

async function isThere(job: Job, name: string): Promise<boolean> {
  const file = await job.folder.open(name, job.signal);
  if (!file.found) return false;
  await file.close();
  return true;
}
