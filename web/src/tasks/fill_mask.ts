import { asList, type CallOptions, checkString, checkStrings, engineOptions, type OptionNames, type Run } from './call.js';

/** Options of fill-mask. */
export interface FillMaskOptions extends CallOptions {
  /** Number of proposals for each mask, best first. Default 5. */
  top_k?: number;
  /** Propose only these tokens. A word with several tokens counts as its first one. Scores remain probabilities among all tokens. */
  targets?: string | readonly string[];
}

/** A token that fits at the mask. */
export interface MaskProposal {
  score: number;
  /** Id of the token. */
  token: number;
  token_str: string;
  /** The text with this token instead of the mask. */
  sequence: string;
}

/** A list of proposals for a text with one mask; with several masks, such a list for each. */
export type FillMaskOutput = MaskProposal[] | MaskProposal[][];

/**
 * `fill('The [MASK] barked.')`, with the mask token of the model's tokenizer. Several masks are filled independently, and their sequences
 * contain special tokens. A text above the model's limit throws 'text_too_long', because cutting could remove the mask.
 */
export type FillMaskCall = <I extends string | readonly string[]>(
  texts: I,
  options?: FillMaskOptions,
) => Promise<I extends readonly unknown[] ? FillMaskOutput[] : FillMaskOutput>;

const kOptions: OptionNames<FillMaskOptions> = { top_k: true, targets: true };

/** Creates the call of a pipeline; `run` sends requests to its engine. */
export function fillMask(run: Run): FillMaskCall {
  const call = async (texts: unknown, options: FillMaskOptions = {}) => {
    const settings = engineOptions('fill-mask', kOptions, options);
    if (settings.targets !== undefined) settings.targets = checkStrings(asList(settings.targets), 'targets');
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const results = (await run(inputs, settings, options.signal)) as MaskProposal[][][];
    const outputs = results.map((masks) => (masks.length === 1 ? masks[0]! : masks));
    return Array.isArray(texts) ? outputs : outputs[0];
  };
  return call as FillMaskCall;
}
