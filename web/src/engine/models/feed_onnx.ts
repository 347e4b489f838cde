// Feeds weights of an .onnx file to the engine as safetensors. The reader of .onnx files is loaded on demand.
import { PeruseError } from '../../errors.js';
import { hasIntegers } from '../../precisions.js';
import { ByteReporter } from '../../progress.js';
import { parseObject, textOf } from '../../sources/json.js';
import type { OnnxChoice } from '../../sources/onnx_files.js';
import { type ConfigChanges, type ImportOnnx, loadOnnxPart, type ParameterInfo } from '../../sources/onnx_part.js';
import type { NamedFile, Reading } from '../../sources/read_files.js';
import type { Engine } from '../engine.js';
import { integerParameters } from '../weights_reader.js';

/** Weights of an .onnx file. `config` is config.json, changed if the weights need it. */
export interface OnnxFeed {
  config: Uint8Array;
  /** Returns the number of bytes read. */
  feed(engine: Engine): Promise<number>;
}

/** Reads the file's graph. `engine` only lends its memory. */
export async function openOnnxFeed(
  job: Reading,
  engine: Engine,
  { name, dtype, size }: OnnxChoice,
  { name: configName, content: config }: NamedFile,
  importOnnx: ImportOnnx | undefined,
): Promise<OnnxFeed> {
  const { openOnnx } = await loadOnnxPart(importOnnx, name);
  const reporter = new ByteReporter(job.report, job.name, name, size, job.totals);
  reporter.start();
  let bytes = 0;
  const report = (more: number) => {
    bytes += more;
    reporter.add(more);
  };
  const fields = parseObject(configName, config);
  const integers = (all: readonly ParameterInfo[], changes: ConfigChanges) =>
    integerParameters(engine.newReader(name), changed(config, fields, changes), all);
  const encoded = hasIntegers(dtype) ? integers : undefined;
  const weights = await openOnnx({ folder: job.folder, name, ...onnxModel(fields), encoded, signal: job.signal, report });
  const feed = async (target: Engine) => {
    try {
      for await (const chunk of weights.chunks()) await target.feedWeights(chunk);
    } catch (error) {
      throw explainOnnx(name, error, weights.conflicts);
    }
    reporter.finish();
    return bytes;
  };
  return { config: changed(config, fields, weights.changes), feed };
}

/** Returns what the reader needs to know of config.json. */
export function onnxModel(config: Record<string, unknown>): { modelType: string; tied: boolean } {
  return { modelType: textOf(config.model_type), tied: config.tie_word_embeddings !== false };
}

/** Returns config.json with changed fields, or `content` itself if none changes. */
export function changed(content: Uint8Array, config: Record<string, unknown>, changes: ConfigChanges): Uint8Array {
  return Object.keys(changes).length === 0 ? content : new TextEncoder().encode(JSON.stringify({ ...config, ...changes }));
}

/** Adds the parameters that the file lacks to the engine's error about missing or misshapen tensors. */
export function explainOnnx(name: string, error: unknown, conflicts: readonly string[]): unknown {
  if (!(error instanceof PeruseError) || !['missing_tensor', 'missing_head', 'shape_mismatch'].includes(error.code)) return error;
  const folded = error.message.includes('rel_embeddings') ? '; onnxslim or an optimiser folded the relative embeddings into tables' : '';
  const why = conflicts.length > 0 ? ` (${conflicts.slice(0, 3).join('; ')})` : '';
  const what = error.code !== 'shape_mismatch' ? 'parameters that the model needs have no name in this file' : 'parameters do not fit';
  return new PeruseError(
    'unsupported',
    `${name}: ${what}: ${error.message.replace(/\.$/, '')}${why}${folded}; use model.safetensors of the original model, or export it by torch.onnx.export(dynamo=False) before other tools change the file.`,
    { cause: error },
  );
}
