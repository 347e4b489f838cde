import { PeruseError } from '../errors.js';
import { isObject, parseObject, textOf } from './json.js';
import { kLabelConfig, kLabelModel } from './label_models.js';
import type { MissingFile, ModelFile, ModelFolder } from './source.js';

/** The tokenizer's files: the first list whose files exist is used. */
export const kVocabularies: readonly (readonly [string, ...string[]])[] = [
  ['tokenizer.json'],
  ['vocab.txt'],
  ['spm.model'],
  ['sentencepiece.bpe.model'],
  ['vocab.json', 'merges.txt'],
];
export const kTokenizerConfigs: readonly string[] = ['tokenizer_config.json'];
/** The text that a language model makes of messages, if tokenizer_config.json does not have it. */
export const kChatTemplate = 'chat_template.jinja';
export const kTokenAdditions: readonly string[] = ['added_tokens.json', 'special_tokens_map.json'];

export const kModules = 'modules.json';
export const kPrompts = 'config_sentence_transformers.json';
/** Settings of sentence-transformers' encoder, under the names that its releases used: the first file that exists is used. */
export const kSentenceConfigs = ['bert', 'roberta', 'distilbert', 'camembert', 'albert', 'xlm-roberta'].map(
  (name) => `sentence_${name}_config.json`,
);

/** Names of files and folders in a model's folder that are used as they are. */
const kPlainName = /^[^./\\:?#%][^/\\:?#%]*$/;

/** Whether a path stays within the model's folder. */
export function isPlain(folder: string): boolean {
  return folder.split('/').every((name) => kPlainName.test(name));
}

/** A module of sentence-transformers: its folder in the model's, or '', and its class without the package. */
export interface ModelModule {
  folder: string;
  type: string;
}

/** The modules in modules.json, the encoder first. Empty without the file, or if the engine will reject it. */
export function modulesOf(found: readonly { content: Uint8Array }[]): ModelModule[] {
  try {
    const list = found.flatMap(({ content }) => JSON.parse(new TextDecoder().decode(content)) as Record<string, unknown>[]);
    const modules = list.map(({ path, type }) => ({ folder: textOf(path), type: lastPart(textOf(type)) }));
    return modules.every(({ folder }) => folder === '' || isPlain(folder)) ? modules : [];
  } catch {
    return []; // the engine reports the invalid file
  }
}

export const kRouterConfig = 'router_config.json';

/** The modules that a Router (in router_config.json) names: those of documents, the encoder first, then those that only queries have. */
export function routedModules(found: readonly { content: Uint8Array }[], folder: string): ModelModule[] {
  try {
    const [router] = found.map(({ content }) => parseObject(kRouterConfig, content) as unknown as Router);
    const ids = new Set([...router!.structure.document!, ...Object.values(router!.structure).flat()]);
    const modules = [...ids].map((id) => ({ folder: pathWithin(folder, id), type: lastPart(router!.types[id]!) }));
    return modules.every((module) => isPlain(module.folder)) ? modules : [];
  } catch {
    return []; // the engine reports the invalid file
  }
}

interface Router {
  types: Record<string, string>;
  structure: Record<string, string[]>;
}

export function pathWithin(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function lastPart(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1);
}

const kConfig = 'config.json';

/** How a folder gives sparse vectors or matrices that neither its modules nor its class name: the load option `pooling`. */
export type LoadPooling = 'splade' | 'multi_vector';

/** BGE M3's layers on each token's vector, for the poolings of a load. */
export const kTokenLayers: Readonly<Record<LoadPooling, string>> = { splade: 'sparse_linear.pt', multi_vector: 'colbert_linear.pt' };

/** Whether a folder may have kTokenLayers: one of a bare encoder, with modules for dense vectors or without any. */
export function mayHaveTokenLayers(classes: readonly string[], modules: readonly ModelModule[]): boolean {
  const isBare = classes.every((name) => name.endsWith('Model'));
  return isBare && (modules.length === 0 || modules.some(({ type }) => type === 'Pooling'));
}

/** Files of weights; the first that exists is used. */
export const kForms = ['model.safetensors', 'pytorch_model.bin'] as const;

/** Files of a LoRA adapter: its configuration, and its weights, of which the first that exists is used. */
export const kAdapterConfig = 'adapter_config.json';
export const kAdapterWeights: readonly string[] = ['adapter_model.safetensors', 'adapter_model.bin'];

/** The files of a tokenizer, in all forms. */
export const kTokenizerFiles: readonly string[] = [...kVocabularies.flat(), ...kTokenizerConfigs, ...kTokenAdditions];

/** Files of weights: of a model, or of an adapter. */
export const kWeightFiles: readonly string[] = [...kForms, ...kForms.map((form) => `${form}.index.json`), ...kAdapterWeights];

/** Names of all files that may belong to a model. */
export const kModelFiles: readonly string[] = [
  kConfig,
  kModules,
  kLabelConfig,
  kAdapterConfig,
  kPrompts,
  kRouterConfig,
  ...kSentenceConfigs,
  ...kTokenizerFiles,
  kChatTemplate,
  ...Object.values(kTokenLayers),
  ...kWeightFiles,
];

export interface FoundWeights {
  found: true;
  /** 'model.safetensors' or 'pytorch_model.bin', also if the weights are sharded. */
  form: string;
  name: string;
  /** The weights, or the index of shards. */
  file: ModelFile;
  sharded: boolean;
}

export interface MissingWeights {
  found: false;
  missing: MissingFile[];
}

export async function findWeights(folder: Pick<ModelFolder, 'open'>, signal: AbortSignal): Promise<FoundWeights | MissingWeights> {
  const missing: MissingFile[] = [];
  for (const form of kForms) {
    for (const [name, sharded] of [
      [form, false],
      [`${form}.index.json`, true],
    ] as const) {
      const file = await folder.open(name, signal);
      if (file.found) return { found: true, form, name, file, sharded };
      if (!sharded) missing.push(file);
    }
  }
  return { found: false, missing };
}

export async function neededWeights(folder: Pick<ModelFolder, 'open'>, signal: AbortSignal): Promise<FoundWeights> {
  const weights = await findWeights(folder, signal);
  if (!weights.found) throw await explainMissing(folder, weights.missing, signal);
  return weights;
}

/** The files that an index of shards names; undefined without any, or if one is no plain name. */
export function shardsOf({ weight_map: map }: Record<string, unknown>): string[] | undefined {
  const shards = [...new Set(Object.values(isObject(map) ? map : {}))];
  const arePlain = shards.every((shard): shard is string => typeof shard === 'string' && kPlainName.test(shard));
  return arePlain && shards.length > 0 ? shards : undefined;
}

/** The files that an index of shards names. Throws 'malformed_file' without any. */
export function neededShards(where: string, index: Record<string, unknown>): string[] {
  const shards = shardsOf(index);
  if (!shards) throw new PeruseError('malformed_file', `${where} has no weight_map of plain file names.`);
  return shards;
}

/** Files whose presence explains why a repository lacks the needed ones. */
const kTelling: readonly [string, string][] = [
  [kLabelConfig, kLabelModel],
  ['adapter_config.json', 'an adapter: the model is the one that it changes'],
  ['tf_model.h5', 'TensorFlow'],
  ['flax_model.msgpack', 'JAX'],
  ['onnx/model.onnx', "ONNX, which weights: 'onnx' and peruse convert read"],
  ['model.onnx', "ONNX, which subfolder: '' reads"],
];

function listed(missing: readonly MissingFile[]): string {
  const one = (values: readonly string[]) => new Set(values).size === 1;
  const folders = missing.map(({ where }) => where.slice(0, where.lastIndexOf('/') + 1));
  const reasons = missing.map(({ why }) => why);
  if (missing.length > 1 && folders[0] === '' && one(folders) && one(reasons)) {
    return `${missing.map(({ where }) => where).join(' nor ')} (${reasons[0]})`;
  }
  if (missing.length === 1 || !one(folders) || !one(reasons)) {
    return missing.map(({ where, why }) => `${where} (${why})`).join(' nor ');
  }
  const names = missing.map(({ where }) => where.slice(folders[0]!.length));
  return `${names.join(' nor ')} in ${folders[0]} (${reasons[0]})`;
}

export function notFound(missing: readonly MissingFile[], reason = ''): PeruseError {
  if (missing.length === 0) return new PeruseError('not_found', `${reason}.`);
  const code = missing.some(({ offline }) => offline) ? 'offline' : 'not_found';
  return new PeruseError(code, `${missing.length > 1 ? 'Found neither' : 'Did not find'} ${listed(missing)}${reason}.`);
}

/** Added if no file of a model exists in the folder: the address is probably wrong. */
const kRemedy = "The source must be the model's folder, which holds config.json, the tokenizer's files and the weights";

/** Returns notFound(), with the files that exist instead. */
export async function explainMissing(
  folder: Pick<ModelFolder, 'open'>,
  missing: readonly MissingFile[],
  signal: AbortSignal,
): Promise<PeruseError> {
  if (missing.some(({ offline }) => offline)) return notFound(missing);
  const there = await Promise.all(
    kTelling.map(async ([name, what]) => {
      const file = await folder.open(name, signal).catch(() => undefined); // the error about the missing file matters more
      if (!file?.found) return [];
      await file.close();
      return [`${name} (${what})`];
    }),
  );
  const instead = there.flat().join(', ');
  return notFound(missing, instead === '' ? `. ${kRemedy}` : `; there is ${instead}`);
}
