import type { TextRankingCall } from './text_ranking.js';

/** Whether a value is a pipeline for text-ranking. */
export function isRanker(value: unknown): value is TextRankingCall {
  return typeof value === 'function' && (value as { task?: unknown }).task === 'text-ranking';
}
