// fill-mask: what could stand where a text has the mask token.
import { asList, type CallOptions, checkString, checkStrings, engineOptions, type OptionNames, type Run } from './call.js';

/** Options of fill-mask. */
export interface FillMaskOptions extends CallOptions {
  /** How many proposals per mask, best first. Default 5. */
  top_k?: number;
  /**
   * Weigh these tokens only. A target that is no token of the vocabulary stands for its first token. The probabilities stay
   * those among all tokens.
   */
  targets?: string | readonly string[];
}

/** A token that could stand where the mask is. */
export interface MaskProposal {
  score: number;
  /** The token's id. */
  token: number;
  token_str: string;
  /** The text with this mask filled in. */
  sequence: string;
}

/** A text with one mask: its proposals; with several: a list of proposals for each, in order. */
export type FillMaskOutput = MaskProposal[] | MaskProposal[][];

/**
 * `fill('The [MASK] barked.')`; the mask is written as the model's tokenizer writes it. Several masks of a text are filled
 * independently of each other, and their sequences keep special tokens. A text that is longer than the model takes is
 * refused with 'text_too_long', since cutting it could lose the mask.
 */
export type FillMaskCall = <I extends string | readonly string[]>(
  texts: I,
  options?: FillMaskOptions,
) => Promise<I extends readonly unknown[] ? FillMaskOutput[] : FillMaskOutput>;

const kOptions: OptionNames<FillMaskOptions> = { top_k: true, targets: true };

/** Makes the call. */
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
