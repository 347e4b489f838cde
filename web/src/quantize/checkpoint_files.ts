import {
  kAdapterConfig,
  kAdapterWeights,
  kForms,
  kGlinerConfig,
  kLabelsTokenizer,
  kModules,
  kPrompts,
  kSentenceConfigs,
  kTokenAdditions,
  kTokenizerConfigs,
  kVocabularies,
  labelsEncoderOf,
} from '../sources/model_files.js';
import { modulesIn, type Reading, readThoseThere } from '../sources/read_files.js';

const kTokenizerFiles = [...kVocabularies.flat(), ...kTokenizerConfigs, ...kTokenAdditions];

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

/** Reads the model's other small files by name: tokenizers, and sentence-transformers' files. `prefix` is the encoder's folder in the model's. */
export async function otherFiles(reading: Reading, prefix: string, config: object): Promise<Map<string, Uint8Array>> {
  const labels =
    labelsEncoderOf(config as Record<string, unknown>) === undefined ? [] : kTokenizerFiles.map((name) => kLabelsTokenizer + name);
  const modules = await modulesIn(reading);
  const parts = modules.filter((module) => module.folder !== '' && `${module.folder}/` !== prefix);
  const names = [
    ...[...kTokenizerFiles, ...kSentenceConfigs].map((name) => prefix + name),
    ...labels,
    ...(modules.length > 0 ? [kModules] : []),
    kPrompts,
    ...parts.flatMap((module) => ['config.json', ...kForms].map((name) => `${module.folder}/${name}`)),
  ];
  const files = await readThoseThere(reading, [...new Set(names)]);
  return new Map(files.map(({ name, content }) => [name, content]));
}
