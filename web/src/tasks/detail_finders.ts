import type { DetailFinder } from '../redact/types.js';
import type { TokenClassificationCall, TokenClassificationOptions } from './token_classification.js';
import type { ZeroShotTokenClassificationCall, ZeroShotTokenClassificationOptions } from './zero_shot_token_classification.js';

/** Makes a finder of a token-classification pipeline. It reads long texts in windows that share 64 tokens. */
export function entityFinder(tag: TokenClassificationCall, options: Omit<TokenClassificationOptions, 'signal'> = {}): DetailFinder {
  return async (texts, given) => {
    const found = await tag(texts, { stride: 64, ...options, ...given, aggregation_strategy: groups(options.aggregation_strategy) });
    return found.map((entities) => entities.map(({ entity_group: type, score, start, end }) => ({ type, score, start, end })));
  };
}

function groups(strategy: TokenClassificationOptions['aggregation_strategy']): 'simple' | 'first' | 'max' | 'average' {
  return strategy === undefined || strategy === 'none' ? 'average' : strategy;
}

/** Makes a finder of a zero-shot-token-classification pipeline (GLiNER) with the labels of the details to find. */
export function labelFinder(
  extract: ZeroShotTokenClassificationCall,
  labels: string | readonly string[],
  options: Omit<ZeroShotTokenClassificationOptions, 'signal'> = {},
): DetailFinder {
  return async (texts, given) => {
    const found = await extract(texts, labels, { ...options, ...given });
    return found.map((spans) => spans.map(({ label: type, score, start, end }) => ({ type, score, start, end })));
  };
}
