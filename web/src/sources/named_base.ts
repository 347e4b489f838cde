// A folder with a LoRA adapter and no config.json, as peft and sentence-transformers save it. Its adapter_config.json names the base model.
import { PeruseError } from '../errors.js';
import type { FileAccess } from './file_access.js';
import { parseObject } from './json.js';
import { kAdapterConfig } from './model_files.js';
import { readSmall } from './read_files.js';
import { kHubId, type PathResolver, resolveSource, type SourceOptions, type SourceSpec } from './source.js';

/** Returns the source of the base model, or undefined if the folder is not an adapter's. */
export async function namedBase(
  adapter: SourceSpec,
  options: SourceOptions,
  paths: PathResolver,
  access: FileAccess,
  signal: AbortSignal,
): Promise<SourceSpec | undefined> {
  if (adapter.kind === 'port') return undefined;
  const { healing, openFolder } = await access.kit!();
  const config = await healing(async (opened) => {
    const folder = await openFolder(adapter, { ...access, opened });
    const file = await folder.open(kAdapterConfig, signal);
    return file.found ? parseObject(file.where, await readSmall(file)) : undefined;
  });
  if (config === undefined) return undefined;
  const { base_model_name_or_path: name, revision } = config;
  const isLocal = adapter.kind === 'folder' && typeof name === 'string' && (await paths.findFolder(name)) !== undefined;
  if (typeof name !== 'string' || !(isLocal || kHubId.test(name))) {
    throw new PeruseError(
      'not_found',
      `${adapter.name} is an adapter, but the model that ${kAdapterConfig} names was not found. Load its model with the option adapter.`,
    );
  }
  // A downloaded file must not name a folder of this machine.
  const known = isLocal ? paths : { ...paths, findFolder: async () => undefined };
  return resolveSource(name, { ...options, revision: typeof revision === 'string' ? revision : undefined }, known);
}
