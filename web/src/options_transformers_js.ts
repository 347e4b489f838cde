// Options of pipeline() in transformers.js that Peruse accepts so that its programs run. Those that change no answer have a notice.
import { option } from './options.js';

export const kOnlyElsewhere = {
  /** transformers.js's: ignored with a notice, because it configures onnxruntime. */
  session_options: option<object>({ kind: 'other' }),
  /** transformers.js's: ignored with a notice. Files with the data of an ONNX file are found by themselves. */
  use_external_data_format: option<unknown>({ kind: 'other' }),
  /** transformers.js's: `id2label` of the object names the labels. All else is ignored with a notice: the model's config.json is read. */
  config: option<object>({ kind: 'other' }),
};

/** A value, or an object with one for each name of an ONNX file, without its suffix. */
export type PerFile<T> = T | Readonly<Record<string, T>>;

const kOnnxDevices = ['gpu', 'webnn', 'webnn-gpu', 'webnn-npu', 'webnn-cpu', 'cuda', 'dml', 'coreml'] as const;

/** Names of onnxruntime's devices that Peruse does not have. */
export type OnnxDevice = (typeof kOnnxDevices)[number];

type Options = Record<string, unknown>;

/** Returns the options in Peruse's terms. `hasLabels` means that the task has the option id2label. */
export function withoutForeign<O extends object>(given: O, hasLabels: boolean): { options: O; notices: string[] } {
  if (typeof given !== 'object' || given === null) return { options: given, notices: [] };
  const { session_options, use_external_data_format, config, ...rest } = given as Options;
  const options: Options = { ...rest };
  const notices: string[] = [];
  const file = typeof options.model_file_name === 'string' ? options.model_file_name : 'model';
  for (const name of ['dtype', 'device']) {
    const value = options[name];
    if (!isObject(value)) continue;
    options[name] = value[file];
    if (value[file] === undefined) notices.push(`${name} has no entry for the file '${file}', so the default was used.`);
  }
  if (kOnnxDevices.includes(options.device as OnnxDevice)) {
    notices.push(`device '${String(options.device)}' is onnxruntime's; the device was chosen as with 'auto'.`);
    options.device = 'auto';
  }
  if (isObject(session_options) && Object.keys(session_options).length > 0) {
    notices.push('session_options is ignored: it configures onnxruntime, which Peruse does not use.');
  }
  if (use_external_data_format) notices.push('use_external_data_format is ignored: files with external data are found by themselves.');
  if (isObject(config)) {
    const { id2label, ...others } = config;
    if (hasLabels && id2label !== undefined) options.id2label ??= id2label;
    if (!hasLabels || Object.keys(others).length > 0)
      notices.push("config is ignored except for id2label: the model's config.json is read.");
  }
  return { options: options as O, notices };
}

function isObject(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
