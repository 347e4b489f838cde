// The files of models that read labels: GLiNER and GLiClass. Only this file knows their names and fields outside of the engine.
import type { LabelReading } from '../tasks/definition.js';
import { numberOf, textOf } from './json.js';

/** A GLiNER's configuration, which replaces config.json. */
export const kLabelConfig = 'gliner_config.json';
/** What a folder with that file contains. */
export const kLabelModel = 'a GLiNER model';
/** The configuration of a GLiNER2's encoder. */
const kEncoderConfig = 'encoder_config/config.json';
/** Folder of a bi-encoder's tokenizer for labels, also in the engine. */
export const kLabelsTokenizer = 'labels_tokenizer/';

/** The label encoder that the configuration of a bi-encoder names. */
export function labelsEncoderOf(config: Record<string, unknown>): string | undefined {
  if (config.model_type === 'GLiClass') {
    return textOf(config.architecture_type).startsWith('bi-encoder') ? textOf(config.label_model_name) : undefined;
  }
  const name = config.labels_encoder ?? undefined;
  return name === undefined ? undefined : textOf(name);
}

/** What a model that reads labels returns, by the file of its configuration; undefined for other models. */
export function labelReadingOf(file: string, config: Record<string, unknown>): LabelReading | undefined {
  if (file === kLabelConfig) return 'spans';
  if (config.model_type === 'extractor') return 'schema';
  return config.model_type === 'GLiClass' ? 'classes' : undefined;
}

export function labelsHint(name: string): string {
  return `The model has a separate encoder for labels: pass the option labels_encoder with the location of its files, for example '${name}'`;
}

/** The configuration of an encoder that is in a file of its own, and the field of the model's configuration in which the engine expects it. */
export interface EncoderConfig {
  field: string;
  /** Whether the file is in the folder of the label encoder. */
  ofLabels: boolean;
  file: string;
  /** Error message if the file is missing. Without it, the engine reports the missing field. */
  hint?: string;
}

/** The biases with which a privacy filter chooses its paths of labels. The engine expects them in a field of config.json. */
const kCalibration = { field: 'viterbi_calibration', ofLabels: false, file: 'viterbi_calibration.json' };

/** The files that belong to the configuration of a model with paths of labels. */
export function calibrationOf(config: Record<string, unknown>): string[] {
  return config.model_type === 'openai_privacy_filter' ? [kCalibration.file] : [];
}

/** Whether a configuration may only name its encoder, or lack what is in another file. Looks at the text, which may not be valid JSON. */
export function mayNameEncoders(file: string, text: string): boolean {
  return file === kLabelConfig || /"(extractor|openai_privacy_filter)"/.test(text);
}

/** The encoders whose configuration the model's, in `file`, may only name, and other files that belong to it. */
export function encoderConfigs(file: string, config: Record<string, unknown>): EncoderConfig[] {
  const field = 'encoder_config';
  if (calibrationOf(config).length > 0) return [kCalibration];
  if (file !== kLabelConfig) return config.model_type === 'extractor' ? [{ field, ofLabels: false, file: kEncoderConfig }] : [];
  const name = textOf(config.model_name);
  const hint = `${file} only names its encoder: pass the option encoder with the location of its configuration and tokenizer, for example '${name}'`;
  const labels = labelsEncoderOf(config);
  return [
    { field, ofLabels: false, file: 'config.json', hint },
    ...(labels === undefined ? [] : [{ field: `labels_${field}`, ofLabels: true, file: 'config.json', hint: labelsHint(labels) }]),
  ];
}

/** Whether the configuration leaves the size of the vocabulary to the tokenizer (old GLiNERs). */
export function lacksVocabularySize(file: string, config: Record<string, unknown>): boolean {
  const readsEntities = file === kLabelConfig || 'labels_encoder' in config || 'span_mode' in config;
  return readsEntities && labelsEncoderOf(config) === undefined && numberOf(config.vocab_size, -1) < 0;
}
