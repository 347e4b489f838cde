import { type Given, option } from '../options.js';
import {
  asList,
  type CallOptions,
  callOptions,
  checkString,
  type EngineInput,
  engineOptions,
  labelList,
  type OneOrMany,
  type Run,
} from './call.js';
import type { TaskDefinition } from './definition.js';

const kTask = 'zero-shot-token-classification';
const kOptions = callOptions(kTask, {
  /** Minimum score, exclusive. Default 0.5. */
  threshold: option({ kind: 'number', default: 0.5, flag: { help: 'with --labels: minimum score (0.5)' } }),
  /** Return no overlapping entities. Default true; with false, an entity may contain another. */
  flat_ner: option({ kind: 'boolean', default: true }),
  /** The same words may have several labels. Default false. */
  multi_label: option({ kind: 'boolean', default: false, flag: { help: 'with --labels: the same words may have several labels' } }),
});

/** Options of zero-shot token classification. */
export interface ZeroShotTokenClassificationOptions extends CallOptions, Given<typeof kOptions> {}

/** A labelled part of a text. */
export interface LabelledSpan {
  label: string;
  text: string;
  score: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** The call of zero-shot token classification. */
export interface ZeroShotTokenClassificationCall {
  /**
   * Returns the parts of a text that the labels describe: `extract(text, labels)`, or a list for each of several texts. Labels are a list, or
   * one string with commas. A long text is read in overlapping windows.
   */
  <I extends string | readonly string[]>(
    texts: I,
    labels: string | readonly string[],
    options?: ZeroShotTokenClassificationOptions,
  ): Promise<OneOrMany<I, LabelledSpan[]>>;
}

function createCall(run: Run): ZeroShotTokenClassificationCall {
  const call = async (texts: unknown, labels: unknown, options: ZeroShotTokenClassificationOptions = {}) => {
    const settings = { ...engineOptions(kTask, kOptions, options), labels: labelList(labels, 'labels') };
    const inputs: EngineInput[] = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const results = await run(inputs, settings, options);
    return Array.isArray(texts) ? results : results[0];
  };
  return call as ZeroShotTokenClassificationCall;
}

/** The task. */
export const zeroShotTokenClassification = {
  engine: { name: kTask, labelConfig: true, labelsTokenizer: true },
  call: createCall,
  options: kOptions,
  example: 'knowledgator/gliner-pii-base-v1.0',
  loadOptions: ['encoder', 'labels_encoder'],
} as const satisfies TaskDefinition;
