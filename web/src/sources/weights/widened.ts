// Reads a q8 or q4 checkpoint as files with float weights.
import { Totals } from '../../progress.js';
import { locate, readModules, readTokenizer } from '../checkpoint.js';
import type { FileAccess } from '../file_access.js';
import { healing } from '../folders/healing.js';
import { openFolder } from '../folders/open_folder.js';
import { parseObject } from '../json.js';
import { kForms, neededShards, neededWeights } from '../model_files.js';
import { type Reading, readWhole } from '../read_files.js';
import type { ModelFile, SourceSpec } from '../source.js';
import type { FileContent } from '../source_files.js';
import { openShard } from './feed_weights.js';
import { FloatWeights, floatConfig, quantizedConfig } from './float_weights.js';

/** Returns undefined if the weights are floats, or of precision `unless`, already. */
export async function readWidened(
  spec: SourceSpec,
  unless: string | undefined,
  access: FileAccess,
  signal: AbortSignal,
): Promise<Map<string, FileContent> | undefined> {
  return healing((opened) => readOnce(spec, unless, { ...access, opened }, signal));
}

async function readOnce(
  spec: SourceSpec,
  unless: string | undefined,
  access: FileAccess,
  signal: AbortSignal,
): Promise<Map<string, FileContent> | undefined> {
  const reading: Reading = {
    name: spec.name,
    folder: await openFolder(spec, access),
    report: () => {},
    signal,
    totals: new Totals(kForms),
  };
  const { job, config, prefix } = await locate(reading);
  const quantized = quantizedConfig(config);
  if (quantized === undefined || quantized.form === unless) return undefined;
  const files = new Map<string, FileContent>();
  const add = (name: string, content: Uint8Array) => files.set(name, content as Uint8Array<ArrayBuffer>);
  for (const { name, content } of await readModules(reading)) add(name, content);
  for (const { name, content } of await readTokenizer(job)) add(prefix + name, content);
  add(`${prefix}config.json`, floatConfig(quantized));
  const widen = async (name: string, file: ModelFile) => {
    const floats = new FloatWeights(file.where, quantized.config);
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of file.chunks()) parts.push(...([...floats.feed(chunk)] as Uint8Array<ArrayBuffer>[]));
    files.set(prefix + name, new Blob(parts));
  };
  const { name, file, sharded } = await neededWeights(job.folder, signal);
  if (!sharded) await widen(name, file);
  else {
    const { content } = await readWhole(job, name, file);
    add(prefix + name, content);
    for (const shard of neededShards(name, parseObject(name, content))) await widen(shard, await openShard(job, shard, name));
  }
  return files;
}
