import { type Given, option } from '../options.js';
import { asList, type CallOptions, callOptions, checkString, engineOptions, labelList, type OneOrMany, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';

/** The default of `hypothesis_template` in zero-shot classification. */
export const kHypothesisTemplate = 'This example is {}.';

const kTask = 'zero-shot-classification';
const kOptions = callOptions(kTask, {
  /** The sentence into which a label is inserted, at {}. Default 'This example is {}.' */
  hypothesis_template: option({ kind: 'string', default: '`This example is {}.`' }),
  /** Score each label independently. By default the scores of all labels sum to 1. */
  multi_label: option({ kind: 'boolean', default: false, flag: { help: 'with --labels: score each label independently' } }),
  /** transformers' old name of `multi_label`. Ignored if `multi_label` is given. */
  multi_class: option({ kind: 'boolean' }),
});

/** Options of zero-shot classification. */
export interface ZeroShotClassificationOptions extends CallOptions, Given<typeof kOptions> {}

/** The labels of a text, with their scores. */
export interface ZeroShotClassificationOutput {
  sequence: string;
  /** Best first. */
  labels: string[];
  scores: number[];
}

/** The call of zero-shot classification. */
export interface ZeroShotClassificationCall {
  /**
   * Returns the labels of a text with their scores, best first: `classify(text, labels)`, or a list for several texts. Labels are a list, or one
   * string with commas. A long text is cut, a label never.
   */
  <I extends string | readonly string[]>(
    texts: I,
    candidate_labels: string | readonly string[],
    options?: ZeroShotClassificationOptions,
  ): Promise<OneOrMany<I, ZeroShotClassificationOutput>>;
}

function createCall(run: Run): ZeroShotClassificationCall {
  const call = async (texts: unknown, labels: unknown, options: ZeroShotClassificationOptions = {}) => {
    const { multi_class, ...given } = engineOptions(kTask, kOptions, options);
    const settings = {
      hypothesis_template: kHypothesisTemplate,
      ...(multi_class !== undefined && { multi_label: multi_class }),
      ...given,
      candidate_labels: labelList(labels, 'candidate_labels'),
    };
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const results = (await run(inputs, settings, options)) as Omit<ZeroShotClassificationOutput, 'sequence'>[];
    const outputs = results.map((result, index) => ({ sequence: inputs[index]!.text, ...result }));
    return Array.isArray(texts) ? outputs : outputs[0];
  };
  return call as ZeroShotClassificationCall;
}

/** The task. */
export const zeroShotClassification = {
  engine: { name: kTask, classes: ['ForSequenceClassification'], labelsTokenizer: true },
  call: createCall,
  options: kOptions,
  example: 'MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33',
  loadOptions: ['encoder', 'id2label', 'labels_encoder'],
  explains: 'text-classification',
  teach: { name: kTask, examples: 'labels', readsLabels: true },
} as const satisfies TaskDefinition;
