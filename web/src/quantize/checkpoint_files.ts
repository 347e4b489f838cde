import {
  explainMissing,
  kAdapterConfig,
  kAdapterWeights,
  kBesideTokenizer,
  kBesideVocabulary,
  kForms,
  kGlinerConfig,
  kLabelsTokenizer,
  kModules,
  kPrompts,
  kSentenceConfigs,
  kVocabularies,
  labelsEncoderOf,
  modulesOf,
} from '../sources/model_files.js';
import { readSmall } from '../sources/read_files.js';
import { folderWithin, type ModelFile, type ModelFolder } from '../sources/source.js';

const kTokenizerFiles = [...kVocabularies.flat(), ...kBesideTokenizer, ...kBesideVocabulary];

/** Names of all files that may belong to a model. */
export const kModelFiles: readonly string[] = [
  'config.json',
  kModules,
  kGlinerConfig,
  kAdapterConfig,
  kPrompts,
  ...kSentenceConfigs,
  ...kTokenizerFiles,
  ...kForms,
  ...kForms.map((form) => `${form}.index.json`),
  ...kAdapterWeights,
];

export interface OpenedCheckpoint {
  config: ModelFile;
  /** The folder with config.json and weights. `prefix` is its path in the model's folder: '', or with a slash at its end. */
  encoder: ModelFolder;
  prefix: string;
}

/** Opens a model's folder. config.json is in it, or in the first module's folder (older sentence-transformers). */
export async function openCheckpoint(folder: ModelFolder, signal: AbortSignal): Promise<OpenedCheckpoint> {
  const config = await folder.open('config.json', signal);
  if (config.found) return { config, encoder: folder, prefix: '' };
  const [encoder] = await modulesIn(folder, signal);
  if (encoder === undefined || encoder.folder === '') throw await explainMissing(folder, [config], signal);
  const prefix = `${encoder.folder}/`;
  const within = folderWithin(folder, prefix);
  const found = await within.open('config.json', signal);
  if (!found.found) throw await explainMissing(folder, [config, found], signal);
  return { config: found, encoder: within, prefix };
}

/** Reads the model's other small files by name: tokenizers, and sentence-transformers' files. */
export async function filesBesideWeights(
  folder: ModelFolder,
  prefix: string,
  config: object,
  signal: AbortSignal,
): Promise<Map<string, Uint8Array>> {
  const labels =
    labelsEncoderOf(config as Record<string, unknown>) === undefined ? [] : kTokenizerFiles.map((name) => kLabelsTokenizer + name);
  const modules = await modulesIn(folder, signal);
  const parts = modules.filter((module) => module.folder !== '' && `${module.folder}/` !== prefix);
  const names = [
    ...[...kTokenizerFiles, ...kSentenceConfigs].map((name) => prefix + name),
    ...labels,
    ...(modules.length > 0 ? [kModules] : []),
    kPrompts,
    ...parts.flatMap((module) => ['config.json', ...kForms].map((name) => `${module.folder}/${name}`)),
  ];
  const files = new Map<string, Uint8Array>();
  for (const name of new Set(names)) {
    const file = await folder.open(name, signal);
    if (file.found) files.set(name, await readSmall(file));
  }
  return files;
}

async function modulesIn(folder: ModelFolder, signal: AbortSignal): Promise<ReturnType<typeof modulesOf>> {
  const file = await folder.open(kModules, signal);
  return file.found ? modulesOf([{ content: await readSmall(file) }]) : [];
}
