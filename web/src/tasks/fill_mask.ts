import { PeruseError } from '../errors.js';
import { type Given, option } from '../options.js';
import {
  asList,
  type CallOptions,
  callOptions,
  checkString,
  checkStrings,
  engineOptions,
  type NoOptions,
  nameOf,
  type OneOrMany,
  type Run,
} from './call.js';
import type { TaskDefinition } from './definition.js';

const kTask = 'fill-mask';
const kOptions = callOptions(kTask, {
  /** Number of proposals for each mask, best first. Default 5. */
  top_k: option({ kind: 'number', default: 5 }),
  /** transformers.js 2's name of `top_k`. Ignored if `top_k` is given. */
  topk: option({ kind: 'number' }),
  /** Propose only these tokens. A word with several tokens counts as its first one. Scores remain probabilities among all tokens. */
  targets: option<string | readonly string[]>({ kind: 'other', default: 'the whole vocabulary' }),
  /** Return a list of proposals for each mask of a text. By default a text has exactly one mask. */
  all_masks: option({ kind: 'boolean', default: false }),
});

/** Options of fill-mask. */
export interface FillMaskOptions extends CallOptions, Given<typeof kOptions> {}

/** A token that fits at the mask. */
export interface MaskProposal {
  score: number;
  /** Id of the token. */
  token: number;
  token_str: string;
  /** The text with this token instead of the mask. */
  sequence: string;
}

/** The proposals for a text's mask; with `all_masks`, a list for each mask. */
export type FillMaskOutput<O = NoOptions> = O extends { all_masks: true }
  ? MaskProposal[][]
  : O extends { all_masks?: false }
    ? MaskProposal[]
    : MaskProposal[] | MaskProposal[][];

/** The call of fill-mask. */
export interface FillMaskCall {
  /**
   * Returns words for the mask of a text, best first: `fill('The [MASK] barked.')`, with the mask token of the model's tokenizer. Several masks
   * need `all_masks`, are filled independently, and their sequences contain special tokens. A text above the model's limit throws
   * 'text_too_long', because cutting could remove the mask.
   */
  <I extends string | readonly string[], const O extends FillMaskOptions = NoOptions>(
    texts: I,
    options?: O,
  ): Promise<OneOrMany<I, FillMaskOutput<O>>>;
}

function createCall(run: Run): FillMaskCall {
  const call = async (texts: unknown, options: FillMaskOptions = {}) => {
    const { all_masks = false, topk, ...given } = engineOptions(kTask, kOptions, options);
    const settings: Record<string, unknown> = { ...(topk !== undefined && { top_k: topk }), ...given };
    if (typeof all_masks !== 'boolean') {
      throw new PeruseError('invalid_argument', `all_masks must be true or false, not ${nameOf(all_masks)}.`);
    }
    if (settings.targets !== undefined) settings.targets = checkStrings(asList(settings.targets), 'targets');
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const results = (await run(inputs, settings, options)) as MaskProposal[][][];
    const outputs = all_masks ? results : results.map(onlyMask);
    return Array.isArray(texts) ? outputs : outputs[0];
  };
  return call as FillMaskCall;
}

/** The task. */
export const fillMask = {
  engine: { name: kTask, classes: ['ForMaskedLM', 'ForPreTraining'] },
  call: createCall,
  options: kOptions,
  example: 'distilbert/distilbert-base-uncased',
  loadOptions: ['enhanced_mask_decoder'],
  pretrain: { objective: 'mlm', task: { name: 'masked-lm', examples: 'lines' } },
} as const satisfies TaskDefinition;

function onlyMask(masks: MaskProposal[][], index: number): MaskProposal[] {
  if (masks.length === 1) return masks[0]!;
  throw new PeruseError(
    'invalid_argument',
    `Input ${index} has ${masks.length} masks: pass all_masks: true, which returns a list for each.`,
  );
}
