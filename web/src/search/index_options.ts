// Checks what callers of SemanticIndex give: options, and texts, which are copied.
import { describeError, PeruseError, show } from '../errors.js';
import { checkedOptions, checkString, nameOf } from '../tasks/call.js';
import { isRanker } from '../tasks/ranker.js';
import type { TextRankingCall } from '../tasks/text_ranking.js';
import type { EmbedOptions, IndexItem, Metadata, SearchFilter, SearchOptions, SemanticIndexOptions, TextId } from './search_types.js';

export interface SearchSettings {
  top_k: number;
  filter: SearchFilter | undefined;
  keywords: boolean;
  rerank: TextRankingCall | undefined;
  rerank_top: number;
  embed: EmbedOptions;
}

const kDefaultReranked = 20;

export function settingsOf(options: SearchOptions): SearchSettings {
  const { top_k = 10, filter, keywords = false, rerank, rerank_top, signal: _, ...embed } = options;
  checkCount('top_k', top_k);
  if (rerank_top !== undefined) checkCount('rerank_top', rerank_top);
  if (typeof keywords !== 'boolean') throw new PeruseError('invalid_argument', `keywords must be true or false, not ${show(keywords)}.`);
  if (rerank !== undefined && !isRanker(rerank)) {
    throw new PeruseError('invalid_argument', `rerank must be a pipeline for text-ranking, not ${show(rerank)}.`);
  }
  if (filter !== undefined && (filter === null || !['object', 'function'].includes(typeof filter))) {
    throw new PeruseError('invalid_argument', `filter must be an object or a function, not ${show(filter)}.`);
  }
  return { top_k, filter, keywords, rerank, rerank_top: rerank_top ?? Math.max(top_k, kDefaultReranked), embed };
}

function checkCount(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new PeruseError('invalid_argument', `${name} must be a whole number from 1 on, not ${show(value)}.`);
}

export function filterOf(filter: SearchFilter): (metadata: Metadata, id: TextId) => boolean {
  if (typeof filter === 'function') return filter as (metadata: Metadata, id: TextId) => boolean;
  const conditions = Object.entries(filter);
  return (metadata) =>
    conditions.every(([name, wanted]) => (Array.isArray(wanted) ? wanted.includes(metadata[name]) : metadata[name] === wanted));
}

const kIndexOptions = {
  dimensions: true,
  similarity: true,
  chunk_tokens: true,
  chunk_overlap: true,
  storage: true,
  max_terms: true,
} as const;

export function checkIndexOptions(options: Omit<SemanticIndexOptions, 'vectors'>): void {
  checkedOptions('SemanticIndex', { ...kIndexOptions, vectors: true }, options);
  const { similarity = 'cosine', chunk_tokens, chunk_overlap, storage = 'float32', max_terms } = options;
  const refuse = (name: string, wish: string, value: unknown) => {
    throw new PeruseError('invalid_argument', `${name} must be ${wish}, not ${show(value)}.`);
  };
  if (similarity !== 'cosine' && similarity !== 'dot') refuse('similarity', "'cosine' or 'dot'", similarity);
  if (storage !== 'float32' && storage !== 'int8') refuse('storage', "'float32' or 'int8'", storage);
  if (max_terms !== undefined) checkCount('max_terms', max_terms);
  if (chunk_tokens !== undefined) checkCount('chunk_tokens', chunk_tokens);
  if (chunk_overlap === undefined) return;
  if (chunk_tokens === undefined) throw new PeruseError('invalid_argument', 'chunk_overlap is an option of chunks; set chunk_tokens too.');
  if (!Number.isSafeInteger(chunk_overlap) || chunk_overlap < 0 || chunk_overlap >= chunk_tokens) {
    refuse('chunk_overlap', `a whole number from 0 on, less than chunk_tokens (${chunk_tokens})`, chunk_overlap);
  }
}

/** A text to add. Without an id it gets its number, which is known when it is added. */
export interface NewItem {
  id?: TextId;
  text: string;
  metadata?: Metadata;
}

export function itemsOf(texts: unknown): NewItem[] {
  if (!Array.isArray(texts)) throw new PeruseError('invalid_argument', `Texts must be a list, not ${nameOf(texts)}.`);
  return Array.from(texts as unknown[], (item, place) => {
    const { id, text, metadata } = (typeof item === 'object' && item !== null ? item : { text: item }) as Partial<IndexItem>;
    if (id !== undefined && id !== null && !isId(id)) {
      const shown = typeof id === 'number' ? String(id) : nameOf(id);
      throw new PeruseError('invalid_argument', `The id of input ${place} must be a string or a finite number, not ${shown}.`);
    }
    return {
      ...((id ?? undefined) !== undefined && { id: id! }),
      text: checkString(text, `Input ${place}`),
      ...(metadata !== undefined && { metadata: metadataOf(metadata, place) }),
    };
  });
}

export function isId(id: unknown): id is TextId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
}

/** A copy as JSON, so that a search finds the same before and after `save()`. */
function metadataOf(metadata: unknown, place: number): Metadata {
  const refuse = (what: string, cause?: unknown) => {
    throw new PeruseError('invalid_argument', `The metadata of input ${place} ${what}.`, { cause });
  };
  if (!isObject(metadata)) refuse(`must be an object, not ${nameOf(metadata)}`);
  let copy: unknown;
  try {
    copy = JSON.parse(JSON.stringify(metadata));
  } catch (error) {
    refuse(`can't be stored as JSON: ${describeError(error)}`, error);
  }
  if (!isObject(copy)) refuse(`must be an object as JSON, not ${nameOf(copy)}`);
  return copy as Metadata;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
