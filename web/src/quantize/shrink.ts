// shrinkCheckpoint(): trims, quantises and converts a checkpoint in one pass in Node, and compares the results.
import { createReadStream, type Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { writeWhole } from '../cache/write_file_node.js';
import { describe } from '../describe.js';
import { PeruseError, show } from '../errors.js';
import { pipeline } from '../pipeline.js';
import { runtime } from '../platform/current.js';
import { isQuantizedForm, kSmallestForm, kUsualForm, type QuantizedForm } from '../precisions.js';
import { type WeightsOptions, type WeightsWish, weightsWish } from '../sources/onnx_files.js';
import { openCheckpoint } from '../sources/open_checkpoint.js';
import { type Reading, readThoseThere } from '../sources/read_files.js';
import { resolveSource, type Source, type SourceSpec } from '../sources/source.js';
import { kClassification, kEmbedding } from '../tasks/tasks.js';
import { cos_sim } from '../tasks/vectors.js';
import { kMostLoss, type PackedLayers, rewriteCheckpoint, writeModel } from './rewrite_checkpoint.js';
import { planTrim, refuseMisfit, type TrimOptions, type TrimReport } from './trim.js';

/** Without `texts` and `keep_scripts` the vocabulary stays as it is. */
export interface ShrinkOptions extends TrimOptions, Omit<WeightsOptions, 'dtype'> {
  /**
   * Precision of the result. Default 'q8'; 'q4' has 4 bits for token embeddings and wide linear layers, except layers that lose more than
   * others by it (ShrinkReport.layers); 'keep' does not change the numbers.
   */
  dtype?: QuantizedForm | 'keep';
  /** Texts on which the result is compared with the source. Default: the held-out texts, at most 200. */
  compare?: Iterable<string>;
}

/** Report of shrinkCheckpoint(). */
export interface ShrinkReport {
  /** The file of weights that was read. */
  file: string;
  /** Bytes of the weights before and after. */
  bytesBefore: number;
  bytesAfter: number;
  /** Tensors in 8 or 4 bits. */
  quantized: number;
  /** With dtype 'q4': linear layers that are wide enough for 4 bits. A loss is the relative error of the weights. */
  layers?: PackedLayers;
  /** If the vocabulary was trimmed. */
  trimmed?: Omit<TrimReport, 'bytesBefore' | 'bytesAfter'>;
  /** If there were texts to compare on. */
  difference?: Difference;
  /** Warnings, for example that the source was quantised already. */
  notices: string[];
}

/** Differences to the source over texts. */
export interface Difference {
  texts: number;
  /** Cosine of the mean-pooled vectors of source and result. */
  meanCosine: number;
  leastCosine: number;
  /** Number of texts whose best label differs; only for text classifiers. */
  otherLabels?: number;
}

const kMostCompared = 200;
const kCard = 'README.md';

/**
 * Writes a small copy of the checkpoint of `source` to `folder`, ready to host: safetensors, with weights of 8 bits (or 4) and the part of
 * the vocabulary that `texts` or `keep_scripts` need. Other files of a source folder on disk are copied. README.md gets a section about the changes.
 *
 * @throws PeruseError: those of convertCheckpoint, quantizeCheckpoint and trimCheckpoint.
 */
export async function shrinkCheckpoint(source: Source, folder: string, options: ShrinkOptions = {}): Promise<ShrinkReport> {
  const { dtype = kUsualForm } = options;
  if (dtype !== 'keep' && !isQuantizedForm(dtype))
    throw new PeruseError('invalid_argument', `dtype must be 'q8', 'q4' or 'keep', not ${show(dtype)}.`);
  const wish = weightsWish({ ...options, dtype: 'auto' });
  const texts = [...(options.texts ?? [])];
  const asked = options.compare && [...options.compare];
  if (asked?.length === 0) throw new PeruseError('invalid_argument', 'compare has no texts.');
  const heldOut = options.held_out ? [...options.held_out] : texts.filter((_, i) => i % 10 === 9);
  const compared = asked ?? heldOut.slice(0, kMostCompared);
  const stored = dtype === 'keep' ? undefined : dtype;
  const given = { ...options, ...(options.texts && { texts }), ...(options.held_out && { held_out: heldOut }) };
  return writeModel(source, folder, options, (staged) => shrinkTo(staged, source, given, { stored, wish, compared }));
}

interface Shrinking {
  stored: QuantizedForm | undefined;
  wish: WeightsWish;
  compared: readonly string[];
}

async function shrinkTo(
  staged: string,
  source: Source,
  options: ShrinkOptions,
  { stored, wish, compared }: Shrinking,
): Promise<ShrinkReport> {
  const trims = options.texts !== undefined || options.keep_scripts !== undefined;
  const plan = trims ? await planTrim(source, options) : undefined;
  const written = await rewriteCheckpoint(source, staged, options, stored, wish, plan?.trim, stored === kSmallestForm);
  const trimmed = await plan?.compare(staged);
  if (trimmed) refuseMisfit(trimmed, options);
  const spec = await resolveSource(source, options, runtime().paths);
  if (spec.kind === 'folder') await copyOthers(spec.path, staged, trimmed?.dropped ?? []);
  const difference = compared.length > 0 ? await differenceOf(source, staged, compared, options) : undefined;
  const report: ShrinkReport = {
    file: written.file,
    bytesBefore: written.bytesBefore,
    bytesAfter: written.bytesAfter,
    quantized: written.encoded,
    ...(stored === kSmallestForm && { layers: written.layers }),
    ...(trimmed && { trimmed }),
    ...(difference && { difference }),
    notices: written.notices,
  };
  await writeCard(spec, staged, report, options);
  return report;
}

/** Weights in any format, which the result replaces. Adapters stay. */
const kWeights = /(?<!(^|\/)adapter_model)\.(safetensors|bin|onnx|h5|msgpack|ot|pt|pth|ckpt|gguf)$|\.onnx_data(_\d+)?$|\.index\.json$/;

/** Copies files of the source folder that the result lacks. Hidden files are left out. */
async function copyOthers(from: string, to: string, dropped: readonly string[]): Promise<void> {
  const own = new Set(await filesIn(to));
  for (const name of await filesIn(from)) {
    if (own.has(name) || kWeights.test(name) || dropped.includes(name) || /(^|\/)\./.test(name)) continue;
    await writeWhole(to, name, createReadStream(join(from, name)));
  }
}

/**
 * Returns the paths of regular files, with '/' between their parts. Symbolic links are left out, because they may point outside of the folder.
 * In the hub's cache all files of a model are links to its folder blobs/, and count as files.
 */
async function filesIn(folder: string): Promise<string[]> {
  const blobs = join(await realpath(folder), '../../blobs') + sep;
  const isFile = async (entry: Dirent, path: string) =>
    entry.isFile() || (entry.isSymbolicLink() && (await realpath(path).catch(() => '')).startsWith(blobs));
  const names: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (await isFile(entry, path)) names.push(relative(folder, path).replaceAll(sep, '/'));
  }
  return names;
}

async function read(source: Reading, name: string): Promise<Uint8Array | undefined> {
  const [file] = await readThoseThere(source, [name]);
  return file?.content;
}

async function differenceOf(source: Source, folder: string, texts: readonly string[], options: ShrinkOptions): Promise<Difference> {
  const { revision, token, offline, weights, subfolder, model_file_name, route } = options;
  const how = {
    ...(revision === undefined ? {} : { revision }),
    ...(token === undefined ? {} : { token }),
    ...(offline === undefined ? {} : { offline }),
    ...(weights === undefined ? {} : { weights }),
    ...(subfolder === undefined ? {} : { subfolder }),
    ...(model_file_name === undefined ? {} : { model_file_name }),
    ...(route === undefined ? {} : { route }),
  };
  const vectors = async (model: Source, more: object) => {
    const embed = await pipeline(kEmbedding, model, more);
    try {
      return [...(await embed([...texts], { pooling: 'mean', truncation: true }))].map(({ data }) => data);
    } finally {
      await embed.dispose();
    }
  };
  const [before, after] = [await vectors(source, how), await vectors(folder, {})];
  const cosines = before.map((vector, i) => cos_sim(vector, after[i]!));
  const difference: Difference = {
    texts: texts.length,
    meanCosine: cosines.reduce((sum, one) => sum + one, 0) / cosines.length,
    leastCosine: Math.min(...cosines),
  };
  const { downloads } = await describe(folder);
  if (!downloads.some(({ tasks }) => tasks.includes(kClassification))) return difference;
  const labels = async (model: Source, more: object) => {
    const classify = await pipeline(kClassification, model, more);
    try {
      return (await classify([...texts], { truncation: true })).map(({ label }) => label);
    } finally {
      await classify.dispose();
    }
  };
  const [old, now] = [await labels(source, how), await labels(folder, {})];
  return { ...difference, otherLabels: old.filter((label, i) => label !== now[i]).length };
}

async function writeCard(spec: SourceSpec, folder: string, report: ShrinkReport, options: ShrinkOptions): Promise<void> {
  const source = await openCheckpoint(spec, runtime(), new AbortController().signal);
  const original = await read(source, kCard).catch(() => undefined);
  const card = original ? new TextDecoder().decode(original).trimEnd() : `# ${publicName(spec)}`;
  await writeWhole(folder, kCard, `${card}\n\n${section(spec, report, options)}`);
}

/** The name of a folder on disk without its path, because the card is published. */
function publicName({ kind, name }: SourceSpec): string {
  return kind === 'folder' ? basename(name) : name;
}

function section(
  spec: SourceSpec,
  { file, bytesBefore, bytesAfter, quantized, layers, trimmed, difference }: ShrinkReport,
  options: ShrinkOptions,
): string {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const scripts = options.keep_scripts ?? [];
  const lines = [
    `Made of ${publicName(spec)}${options.revision === undefined ? '' : ` (revision ${options.revision})`}, file ${file}, by \`peruse shrink\`.`,
    `Weights: ${megabytes(bytesAfter)} (before: ${megabytes(bytesBefore)}).`,
    ...(quantized > 0
      ? [
          options.dtype === kSmallestForm
            ? `${quantized} tensors are integers: token embeddings of 4 bits, as linear layers with at least 1,024 inputs and outputs, others of 8 bits (\`quantization_config\` in config.json).`
            : `${quantized} tensors are 8-bit integers with a scale for each row (\`quantization_config\` in config.json).`,
        ]
      : []),
    ...(layers && layers.kept.length > 0
      ? [
          `Layers that would lose more than ${100 * kMostLoss} % of their weights in 4 bits keep 8: ${layers.kept
            .map(({ name, loss }) => `${name} (${(100 * loss).toFixed(1)} %)`)
            .join(', ')}.`,
        ]
      : []),
    ...(trimmed
      ? [
          `The vocabulary has ${trimmed.piecesAfter} of ${trimmed.piecesBefore} pieces${scripts.length > 0 ? `, all of the scripts ${scripts.join(', ')} among them` : ''}.` +
            ` Of ${trimmed.heldOut} held-out texts ${trimmed.changed} are divided into other pieces than before.`,
        ]
      : []),
    ...(difference
      ? [
          `Over ${difference.texts} texts the mean-pooled vectors have a cosine of ${difference.meanCosine.toFixed(4)} to those of the source on average, ${difference.leastCosine.toFixed(4)} at least` +
            `${difference.otherLabels === undefined ? '' : `; ${difference.otherLabels} texts get another label`}.`,
        ]
      : []),
  ];
  return `## What was changed\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
}
