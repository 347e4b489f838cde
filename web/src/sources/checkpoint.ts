// A model's files, as every part of the package reads them: its configuration, its tokenizer, sentence-transformers' modules, its weights.
import { PeruseError } from '../errors.js';
import { type EngineTask, hasHead } from '../tasks/definition.js';
import { firstOf, folderWithin, lookAt } from './folders/look.js';
import { isObject, parseObject, textOf } from './json.js';
import {
  calibrationOf,
  encoderConfigs,
  kLabelConfig,
  kLabelsTokenizer,
  labelsEncoderOf,
  labelsHint,
  lacksVocabularySize,
  mayNameEncoders,
} from './label_models.js';
import {
  explainMissing,
  kAdapterConfig,
  kChatTemplate,
  kForms,
  kModules,
  kPrompts,
  kRouterConfig,
  kSentenceConfigs,
  kTokenAdditions,
  kTokenizerConfigs,
  kTokenizerFiles,
  kTokenLayers,
  kVocabularies,
  type LoadPooling,
  type ModelModule,
  mayHaveTokenLayers,
  modulesOf,
  neededShards,
  neededWeights,
  notFound,
  pathWithin,
  routedModules,
} from './model_files.js';
import { type NamedFile, type ReadFile, type Reading, readFirstThere, readNeeded, readThoseThere, readWhole } from './read_files.js';
import type { FileFacts, MissingFile, ModelFolder } from './source.js';

export async function readTokenizer(reading: Reading): Promise<NamedFile[]> {
  return (await Promise.all([readVocabulary(reading), readThoseThere(reading, kTokenizerConfigs)])).flat();
}

/** Whether a repository lacks sentence-transformers' modules.json: Xenova's were made by a tool that did not copy it. */
export function hasNoModules(name: string): boolean {
  return name.startsWith('Xenova/');
}

async function readModuleList(reading: Reading): Promise<ReadFile[]> {
  return hasNoModules(reading.name) ? [] : readThoseThere(reading, [kModules]);
}

/** Reads modules.json, and what a Router in it names. `files` are the read files. */
async function listModules(reading: Reading): Promise<{ files: NamedFile[]; modules: ModelModule[] }> {
  const files = await readModuleList(reading);
  const modules = modulesOf(files);
  // Without this check, config.json would be said to be missing.
  if (modules.some(({ type }) => type === 'Asym')) throw new PeruseError('unsupported', `${kModules}: the module Asym is not supported.`);
  const at = modules.findIndex(({ type }) => type === 'Router');
  if (at < 0) return { files, modules };
  const { folder } = modules[at]!;
  const routes = await readThoseThere(reading, [pathWithin(folder, kRouterConfig)]);
  modules.splice(at, 1, ...routedModules(routes, folder));
  return { files: [...files, ...routes], modules };
}

export async function modulesIn(reading: Reading): Promise<ModelModule[]> {
  return (await listModules(reading)).modules;
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

export interface Job extends Reading {
  task: EngineTask;
  /** The load option. */
  pooling?: LoadPooling | undefined;
  /** A bi-encoder's label encoder, if the caller named its folder. */
  labels?: ModelFolder;
}

/** The name by which the engine gets the config.json of an adapter's folder. */
const kAdapterModelConfig = 'adapter/config.json';

export async function locateForTask(job: Job): Promise<Located<Job>> {
  const labelled = job.task.labelConfig ? await job.folder.open(kLabelConfig, job.signal) : undefined;
  if (labelled === undefined) {
    const found = await locate(job);
    return { ...found, config: await withEncoders(found.job, found.config) };
  }
  const config = labelled.found ? await readWhole(job, kLabelConfig, labelled) : await readNeeded(job, 'config.json');
  return { job, config: { ...(await withEncoders(job, config)), name: 'config.json' }, prefix: '' };
}

/** Inserts configurations of encoders that are in files of their own. */
async function withEncoders(job: Job, config: NamedFile): Promise<NamedFile> {
  // the engine reports a config.json that cannot be parsed
  if (!mayNameEncoders(config.name, new TextDecoder().decode(config.content))) return config;
  const said = parseObject(config.name, config.content);
  const found: Record<string, unknown> = {};
  for (const { field, ofLabels, file: name, hint } of encoderConfigs(config.name, said)) {
    if ((said[field] ?? null) !== null) continue;
    const file = await (ofLabels ? job.labels : job.folder)?.open(name, job.signal);
    if (file?.found) found[field] = parseObject(file.where, (await readWhole(job, name, file)).content);
    else if (hint !== undefined) throw notFound(file ? [file] : [], `${file ? '. ' : ''}${hint}`);
  }
  if (Object.keys(found).length === 0) return config;
  return { name: config.name, content: new TextEncoder().encode(JSON.stringify({ ...said, ...found })) };
}

/** The task of a model whose task is not known yet. */
const kUnknown: EngineTask = { name: '' };

/** A model whose task is not known yet. */
export interface LocatedModel extends Located<Job> {
  weights: ModelFolder;
  /** Names a file that a model which reads labels needs and the folder lacks. */
  lack?: string;
}

/** Finds config.json or kLabelConfig. The folders of `others` have what the model only names. */
export async function locateModel(
  reading: Reading,
  others: { encoder?: Reading | undefined; labels?: Reading | undefined } = {},
): Promise<LocatedModel> {
  const { folder: own, signal } = reading;
  const folder = others.encoder ? firstOf(own, others.encoder.folder) : own;
  const base: Job = { ...reading, folder, task: kUnknown, ...(others.labels && { labels: others.labels.folder }) };
  const labelled = await lookAt(folder, kLabelConfig, signal);
  try {
    const found = await locateForTask(labelled.found ? { ...base, task: { ...kUnknown, labelConfig: true } } : base);
    return { ...found, weights: found.job.folder === folder ? own : found.job.folder };
  } catch (error) {
    if (!labelled.found || !(error instanceof PeruseError) || error.code !== 'not_found') throw error;
    return { job: base, config: await readNeeded(base, kLabelConfig), prefix: '', weights: own, lack: error.message };
  }
}

/** Reads the tokenizer of a model whose configuration lacks the size of the vocabulary. Returns undefined for other models. */
export async function tokenizerForSize(job: Reading, { name, content }: NamedFile): Promise<NamedFile[] | undefined> {
  const said = parseObject(name, content);
  return lacksVocabularySize(name, said) ? readTokenizer(job) : undefined;
}

/** Looks at the tokenizer's files without reading them. Returns undefined if they are missing. */
export async function lookAtTokenizer(
  folder: ModelFolder,
  signal: AbortSignal,
): Promise<{ names: readonly string[]; files: FileFacts[] } | undefined> {
  const look = async (names: readonly string[]) =>
    (await Promise.all(names.map((name) => lookAt(folder, name, signal)))).flatMap((file) => (file.found ? [file] : []));
  for (const names of kVocabularies) {
    const there = await look(names);
    if (there.length === names.length) return { names, files: [...there, ...(await look(kTokenizerConfigs))] };
  }
  return undefined;
}

export async function readTexts(job: Job, located: ReturnType<typeof locateForTask>): Promise<NamedFile[]> {
  const { sentenceFiles: files } = job.task;
  const forTask = () => (files === 'all' ? readModules(job) : files === 'prompts' ? readRankingSettings(job) : []);
  const texts = Promise.all([readTokenizer(job), forTask()]);
  texts.catch(() => {}); // awaited later; errors in config.json have priority
  const { job: encoder, config } = await located;
  const forLabels = await readLabelsTokenizer(job, config);
  const classifier = files === 'without head' && !hasHeadFor(job.task, config) ? await readModules(job) : [];
  const settings = files === 'all' ? ((await readStanford(job, config)) ?? []) : [];
  if (encoder === job) {
    const found = (await texts).flat();
    const layer = await readTokenLayer(job, config, modulesOf(found.filter(({ name }) => name === kModules)), job.pooling);
    return [config, ...found, ...layer, ...forLabels, ...classifier, ...settings];
  }
  return [config, ...(await readTokenizer(encoder)), ...(await forTask()), ...classifier];
}

/** Reads BGE M3's layer for the load's pooling. */
export async function readTokenLayer(
  reading: Reading,
  config: NamedFile,
  modules: readonly ModelModule[],
  pooling: LoadPooling | undefined,
): Promise<NamedFile[]> {
  return pooling && mayHaveTokenLayers(classesOf(config), modules) ? readThoseThere(reading, [kTokenLayers[pooling]]) : [];
}

/** Reads what a cross-encoder needs. The engine ignores these files if modules.json is absent. */
async function readRankingSettings(job: Reading): Promise<NamedFile[]> {
  const modules = await readModuleList(job);
  if (['Dense', 'LogitScore'].includes(modulesOf(modules).at(-1)?.type ?? '')) return readModules(job);
  return modules.length === 0 ? [] : [...modules, ...(await readThoseThere(job, [kPrompts, kSentenceConfigs[0]!]))];
}

function classNames({ architectures }: Record<string, unknown>): string[] {
  return [architectures].flat().map(textOf);
}

function classesOf(config: NamedFile): string[] {
  return classNames(parseObject(config.name, config.content));
}

/** Whether the class in config.json has the task's head. Otherwise sentence-transformers' modules may contain one. */
export function hasHeadFor(task: EngineTask, config: NamedFile): boolean | undefined {
  return hasHead(task, classesOf(config));
}

/** Modules that consist of a config.json. */
const kConfigured = ['Pooling', 'SpladePooling', 'MultiVectorMask', 'HierarchicalTokenPooling', 'LogitScore'];

/** Modules that consist of a config.json and weights. */
const kWeighted = ['Dense', 'SparseAutoEncoder'];

/** Reads the settings of Stanford's ColBERT, next to config.json. Returns undefined for other models. */
export async function readStanford(job: Reading, config: NamedFile): Promise<ReadFile[] | undefined> {
  return classesOf(config).includes('HF_ColBERT') ? readThoseThere(job, [kStanfordSettings]) : undefined;
}

const kStanfordSettings = 'artifact.metadata';

/** Reads sentence-transformers' files, which core/tasks/sentence_modules.h parses. */
export async function readModules(job: Reading): Promise<NamedFile[]> {
  const { files, modules } = await listModules(job);
  if (files.length === 0) return [];
  const prompts = readThoseThere(job, [kPrompts]);
  const readModule = async ({ folder, type }: ModelModule) => {
    const pathOf = (name: string) => pathWithin(folder, name);
    const settings = () => readThoseThere(job, [pathOf('config.json')]);
    if (type === 'Transformer' || type === 'MLMTransformer') return readFirstThere(job, kSentenceConfigs.map(pathOf));
    if (kConfigured.includes(type)) return settings();
    if (type === 'Normalize') return folder !== '' && configuresNormalize(await prompts) ? settings() : [];
    if (type === 'SparseStaticEmbedding') {
      const weights = await readFirstThere(job, ['idf.json', ...kForms].map(pathOf));
      return [...weights, ...(await readTokenizerWithin(job, folder))];
    }
    return kWeighted.includes(type) ? [...(await settings()), ...(await readFirstThere(job, kForms.map(pathOf)))] : [];
  };
  const read = await Promise.all([prompts, ...modules.map(readModule)]);
  return [...files, ...read.flat()];
}

async function readTokenizerWithin(reading: Reading, path: string): Promise<NamedFile[]> {
  const files = await readTokenizer({ ...reading, folder: folderWithin(reading.folder, `${path}/`) });
  return files.map(({ name, content }) => ({ name: pathWithin(path, name), content }));
}

/** Whether Normalize modules may have a config.json: releases before 5 wrote none. */
function configuresNormalize([prompts]: readonly NamedFile[]): boolean {
  if (prompts === undefined) return false;
  try {
    const { __version__: versions } = parseObject(prompts.name, prompts.content);
    return isObject(versions) && Number.parseInt(textOf(versions.sentence_transformers), 10) >= 5;
  } catch {
    return false; // the engine reports an invalid file
  }
}

/** The folder of a bi-encoder's tokenizer for labels. */
export function labelsFolder({ folder, labels }: Job): ModelFolder {
  const own = folderWithin(folder, kLabelsTokenizer);
  return labels ? firstOf(own, labels) : own;
}

async function readLabelsTokenizer(job: Job, config: NamedFile): Promise<NamedFile[]> {
  if (!job.task.labelsTokenizer) return [];
  const needs = labelsEncoderOf(parseObject(config.name, config.content));
  if (needs === undefined) return [];
  try {
    const files = await readTokenizer({ ...job, folder: labelsFolder(job) });
    return files.map(({ name, content }) => ({ name: kLabelsTokenizer + name, content }));
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code !== 'not_found' || job.labels) throw error;
    throw new PeruseError('not_found', `${error.message} ${labelsHint(needs)}.`, { cause: error });
  }
}

/** Reads adapter_config.json, and the config.json in its folder, which has the labels of the adapter's classifier. */
export async function readAdapterConfigs(job: Job): Promise<NamedFile[]> {
  const [own, model] = await Promise.all([readNeeded(job, kAdapterConfig), readThoseThere(job, ['config.json'])]);
  return [own, ...model.map(({ content }) => ({ name: kAdapterModelConfig, content }))];
}

/** Reads all files for training but the weights: `texts` are the configuration and the tokenizer. Modules are read if `readsModules` holds. */
export async function readForTraining(
  reading: Reading,
  readsModules: (config: NamedFile) => boolean,
): Promise<{ job: Reading; texts: NamedFile[]; modules: NamedFile[] }> {
  const { job, config } = await locate(reading);
  const modules = readsModules(config) ? await readModules(reading) : [];
  return { job, texts: [config, ...(await readTokenizer(job))], modules };
}

/** Reads the tokenizer, and config.json if it exists. */
export async function readForTokenizer(reading: Reading): Promise<NamedFile[]> {
  const config = await readThoseThere(reading, ['config.json']);
  if (config.length > 0) return [...config, ...(await readTokenizer(reading))];
  const { job } = (await encoderWithin(reading)) ?? { job: reading };
  return [...(job === reading ? [] : await readThoseThere(job, ['config.json'])), ...(await readTokenizer(job))];
}

/** Reads the model's other small files by name: tokenizers, and sentence-transformers' files. `prefix` is the encoder's folder in the model's. */
export async function readOthers(reading: Reading, prefix: string, config: Record<string, unknown>): Promise<Map<string, Uint8Array>> {
  const labels = labelsEncoderOf(config) === undefined ? [] : kTokenizerFiles.map((name) => kLabelsTokenizer + name);
  const { files: lists, modules } = await listModules(reading);
  const parts = modules.filter((module) => module.folder !== '' && `${module.folder}/` !== prefix);
  const tables = modules.filter(({ type }) => type === 'SparseStaticEmbedding');
  const names = [
    ...[...kTokenizerFiles, kChatTemplate, ...kSentenceConfigs, kStanfordSettings].map((name) => prefix + name),
    ...labels,
    ...calibrationOf(config),
    kPrompts,
    ...(mayHaveTokenLayers(classNames(config), modules) ? Object.values(kTokenLayers) : []),
    ...parts.flatMap((module) => ['config.json', ...kForms].map((name) => `${module.folder}/${name}`)),
    ...tables.flatMap(({ folder }) => ['idf.json', ...kTokenizerFiles].map((name) => `${folder}/${name}`)),
  ];
  const files = await readThoseThere(reading, [...new Set(names)]);
  return new Map([...lists, ...files].map(({ name, content }) => [name, content]));
}

/** Returns the names of the files with weights: one, or the shards of an index. */
export async function weightFiles(reading: Reading): Promise<string[]> {
  const { folder, signal } = reading;
  const { name, file, sharded } = await neededWeights({ open: (file) => folder.open(file, signal, 1) }, signal);
  await file.close();
  if (!sharded) return [name];
  return neededShards(name, parseObject(name, (await readNeeded(reading, name)).content)).sort();
}
