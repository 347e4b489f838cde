import { PeruseError } from '../../errors.js';
import { ByteReporter } from '../../progress.js';
import { isObject, parseObject } from '../json.js';
import { type FoundWeights, notFound } from '../model_files.js';
import { eachChunk, feedFile, type Reading, readWhole } from '../read_files.js';
import type { ModelFile } from '../source.js';

/** Reads weights: an engine, or a trainer. */
export interface WeightsReceiver {
  setShardIndex(index: Uint8Array): string[];
  /** On a GPU returns a promise, which must be awaited. */
  feedWeights(chunk: Uint8Array): void | Promise<void>;
  endShard(name: string): void;
}

/** Feeds the weights, which are one file or the shards of an index. Returns the number of bytes. */
export async function feedWeights(job: Reading, engine: WeightsReceiver, weights: FoundWeights): Promise<number> {
  if (weights.sharded) return feedShards(job, engine, weights);
  return naming(weights.name, () => feedFile(job, weights.name, weights.file, (chunk) => engine.feedWeights(chunk)));
}

async function feedShards(job: Reading, engine: WeightsReceiver, { form, name, file: indexFile }: FoundWeights): Promise<number> {
  const index = await readWhole(job, name, indexFile);
  const shards = await naming(name, async () => engine.setShardIndex(index.content));
  const reporter = new ByteReporter(job.report, job.name, form, totalSize(name, index.content), job.totals);
  reporter.start();
  let bytes = index.content.length;
  for (const shard of shards) {
    const file = await openShard(job, shard, name);
    await naming(shard, async () => {
      bytes += await eachChunk(job, file, reporter, (chunk) => engine.feedWeights(chunk));
      engine.endShard(shard); // throws if the shard was incomplete
    });
  }
  reporter.finish();
  return bytes;
}

/** Opens a shard that the index `name` names. */
export async function openShard({ folder, signal }: Reading, shard: string, name: string): Promise<ModelFile> {
  const file = await folder.open(shard, signal);
  if (!file.found) throw notFound([file], `, which ${name} names`);
  return file;
}

/** The total in the index; 0 without it. Used for progress only. */
function totalSize(name: string, index: Uint8Array): number {
  const { metadata } = parseObject(name, index);
  const size = isObject(metadata) && typeof metadata.total_size === 'number' ? metadata.total_size : 0;
  return Number.isSafeInteger(size) && size > 0 ? size : 0;
}

/** Adds the file's name to an error of the engine, except one about the model's head, which no other file can mend. */
export async function naming<T>(file: string, feed: () => Promise<T>): Promise<T> {
  try {
    return await feed();
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code === 'missing_head' || error.message.includes(file)) throw error;
    throw new PeruseError(error.code, `${file}: ${error.message}`, { cause: error });
  }
}
