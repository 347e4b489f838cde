// The texts that callers add, checked and copied.
import { describeError, PeruseError } from '../errors.js';
import { checkString, nameOf } from '../tasks/call.js';
import type { IndexItem, Metadata, TextId } from './search_types.js';

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
