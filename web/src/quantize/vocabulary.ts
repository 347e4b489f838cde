// The vocabulary of a tokenizer.json, and a smaller one. A text whose pieces are all kept gets the same pieces:
// - WordPiece takes the longest piece that fits, which stays the longest. Words that the original reads as unknown may become known pieces,
//   if the original fails at a place where a shorter piece would not have.
// - Unigram takes the best-scored sequence, which stays the best. Unknown characters are scored relative to the lowest score, so a piece that
//   has it is kept.
// - BPE applies merges in their order. The parts of a kept piece, by every merge that yields it, are kept too, and so are merges among kept
//   pieces.
import { PeruseError, show } from '../errors.js';
import { isObject, numberOf, textOf } from '../sources/json.js';

type Json = Record<string, unknown>;

/** The pieces to keep, in addition to special and other added tokens. */
export interface Wishes {
  used: ReadonlySet<number>;
  /** Characters that texts use, whose own pieces are kept. */
  characters: ReadonlySet<string>;
  /** Unicode scripts whose pieces are all kept, for example 'Latin'. */
  scripts: readonly string[];
  /** Ids that config.json names. */
  named: readonly number[];
  /** Minimum number of pieces. Vocabularies list frequent pieces first. */
  least: number;
}

interface Merge {
  left: string;
  right: string;
  raw: unknown;
}

type Kind = 'WordPiece' | 'Unigram' | 'BPE';

export class Vocabulary {
  readonly ids: ReadonlyMap<string, number>;
  private readonly kind_: Kind;
  private readonly model_: Json;
  private readonly merges_: Merge[];
  private readonly bytes_: Map<string, number> | undefined;

  constructor(private readonly json_: Json) {
    this.model_ = isObject(json_.model) ? json_.model : {};
    this.kind_ = kindOf(this.model_);
    const pairs =
      this.kind_ === 'Unigram' ? pieces(this.model_).map(([piece], id) => [piece, id] as const) : Object.entries(vocab(this.model_));
    this.ids = new Map([...pairs, ...added(json_).map(({ content, id }) => [content, id] as const)]);
    this.merges_ = this.kind_ === 'BPE' ? mergesOf(this.model_) : [];
    this.bytes_ = JSON.stringify([json_.pre_tokenizer, json_.normalizer]).includes('"ByteLevel"') ? byteSymbols() : undefined;
  }

  keep({ used, characters, scripts, named, least }: Wishes): number[] {
    const kept = new Set<number>([...used, ...named, ...added(this.json_).map(({ id }) => id), ...this.insertedIds()]);
    const isOfScripts = scriptTest(scripts);
    for (const [piece, id] of this.ids) {
      const text = this.textOf(piece);
      const isSymbol =
        this.bytes_?.has(piece) === true || /^<0x[0-9A-F]{2}>$/.test(piece) || piece === textOf(this.model_.unk_token) || text === '';
      const isCharacter = text !== undefined && [...text].length === 1 && (characters.has(text) || /^[\x21-\x7e]$/.test(text));
      if (isSymbol || isCharacter || (text !== undefined && isOfScripts(text))) kept.add(id);
    }
    if (this.kind_ === 'Unigram') {
      const all = pieces(this.model_);
      const lowest = all.reduce((least, [, score], id) => (score < all[least]![1] ? id : least), 0);
      kept.add(lowest).add(numberOf(this.model_.unk_id, 0));
    }
    // A small padding id is the offset of some models' positions, so it must not move.
    for (const id of named) if (id < 256) for (let below = 0; below < id; ++below) kept.add(below);
    for (const id of [...this.ids.values()].sort((a, b) => a - b)) {
      if (kept.size >= least) break;
      kept.add(id);
    }
    this.closeUnderMerges(kept);
    return [...kept].sort((a, b) => a - b);
  }

  /** Returns the tokenizer.json of the kept pieces. `to` maps old ids to new ones. */
  trimmed(to: ReadonlyMap<number, number>): Json {
    const model = { ...this.model_ };
    if (this.kind_ === 'Unigram') {
      model.vocab = pieces(this.model_).filter((_, id) => to.has(id));
      if (typeof model.unk_id === 'number') model.unk_id = to.get(model.unk_id);
    } else {
      model.vocab = Object.fromEntries(
        Object.entries(vocab(this.model_)).flatMap(([piece, id]) => (to.has(id) ? [[piece, to.get(id)]] : [])),
      );
    }
    if (this.kind_ === 'BPE') model.merges = this.merges_.filter((merge) => this.isKept(merge, to)).map(({ raw }) => raw);
    const padding = isObject(this.json_.padding)
      ? { ...this.json_.padding, pad_id: to.get(numberOf(this.json_.padding.pad_id)) }
      : this.json_.padding;
    return {
      ...this.json_,
      added_tokens: (this.json_.added_tokens as Json[]).map((token) => ({ ...token, id: to.get(token.id as number) })),
      post_processor: renumbered(this.json_.post_processor, to),
      padding,
      model,
    };
  }

  /** Ids that the post-processor and the padding insert. */
  private insertedIds(): number[] {
    const ids: number[] = [];
    const record = (id: number) => {
      ids.push(id);
      return id;
    };
    renumbered(this.json_.post_processor, { get: record });
    if (isObject(this.json_.padding)) ids.push(numberOf(this.json_.padding.pad_id));
    return ids;
  }

  private isKept({ left, right }: Merge, to: { has(id: number): boolean }): boolean {
    return [left, right, this.joined(left, right)].every((piece) => to.has(this.ids.get(piece) ?? -1));
  }

  private joined(left: string, right: string): string {
    const prefix = textOf(this.model_.continuing_subword_prefix);
    return left + (prefix !== '' && right.startsWith(prefix) ? right.slice(prefix.length) : right);
  }

  private closeUnderMerges(kept: Set<number>): void {
    const parts = new Map<number, number[]>();
    for (const { left, right } of this.merges_) {
      const [whole, a, b] = [this.joined(left, right), left, right].map((piece) => this.ids.get(piece));
      if (whole !== undefined && a !== undefined && b !== undefined) parts.set(whole, [...(parts.get(whole) ?? []), a, b]);
    }
    const open = [...kept];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const part of parts.get(id) ?? []) {
        if (kept.has(part)) continue;
        kept.add(part);
        open.push(part);
      }
    }
  }

  private textOf(piece: string): string | undefined {
    if (this.bytes_) {
      const bytes = [...piece].map((symbol) => this.bytes_!.get(symbol));
      if (bytes.includes(undefined)) return undefined;
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes as number[])).trim();
      } catch {
        return undefined;
      }
    }
    const prefix = textOf(this.model_.continuing_subword_prefix);
    const suffix = textOf(this.model_.end_of_word_suffix);
    let text = piece.replace(/^▁/, '');
    if (prefix !== '' && text.startsWith(prefix)) text = text.slice(prefix.length);
    if (suffix !== '' && text.endsWith(suffix)) text = text.slice(0, -suffix.length);
    return text;
  }
}

function kindOf(model: Json): Kind {
  const { type } = model;
  if (type === 'WordPiece' || type === 'Unigram' || type === 'BPE') return type;
  if (type === undefined && Array.isArray(model.vocab)) return 'Unigram';
  if (type === undefined && model.merges !== undefined) return 'BPE';
  throw new PeruseError('unsupported', `tokenizer.json: model.type ${show(type)} can't be trimmed; WordPiece, Unigram and BPE can.`);
}

function pieces(model: Json): [string, number][] {
  const { vocab: list } = model;
  if (Array.isArray(list) && list.every((one) => Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'number'))
    return list;
  throw new PeruseError('malformed_file', 'tokenizer.json: model.vocab must be a list of pieces with scores.');
}

function vocab(model: Json): Record<string, number> {
  const { vocab: map } = model;
  if (isObject(map) && Object.values(map).every((id) => Number.isSafeInteger(id))) return map as Record<string, number>;
  throw new PeruseError('malformed_file', 'tokenizer.json: model.vocab must be an object from pieces to ids.');
}

function added(json: Json): { content: string; id: number }[] {
  const { added_tokens: list = [] } = json;
  if (Array.isArray(list) && list.every((one) => isObject(one) && typeof one.content === 'string' && Number.isSafeInteger(one.id)))
    return list;
  throw new PeruseError('malformed_file', 'tokenizer.json: added_tokens must be a list of tokens with ids.');
}

function mergesOf(model: Json): Merge[] {
  const { merges: list = [] } = model;
  const parse = (raw: unknown): Merge => {
    const [left, right, ...more] = typeof raw === 'string' ? raw.split(' ') : Array.isArray(raw) ? raw : [];
    if (typeof left === 'string' && typeof right === 'string' && more.length === 0) return { left, right, raw };
    throw new PeruseError('malformed_file', `tokenizer.json: model.merges must hold pairs of pieces, not ${show(raw)}.`);
  };
  if (Array.isArray(list)) return list.map(parse);
  throw new PeruseError('malformed_file', 'tokenizer.json: model.merges must be a list.');
}

/** Ids in a post-processor: [token, id] pairs, and `ids` of special tokens. */
function renumbered(value: unknown, to: { get(id: number): number | undefined }): unknown {
  if (Array.isArray(value)) {
    const isPair = value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'number';
    return isPair ? [value[0], to.get(value[1])] : value.map((one) => renumbered(one, to));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'ids' && Array.isArray(one) ? one.map((id) => to.get(id as number)) : renumbered(one, to),
    ]),
  );
}

/** Characters without a script that texts of every script may use: ASCII, Latin-1, punctuation and currencies. */
const kCommon = /^[\x21-\x7e\xa1-\xbf\xd7\xf7\u2010-\u205e\u20a0-\u20cf]+$/;

/** Whether all letters of a text are of the scripts; common characters without letters belong to every script. */
function scriptTest(scripts: readonly string[]): (text: string) => boolean {
  if (scripts.length === 0) return () => false;
  const names = scripts.map((name) => {
    if (/^[A-Za-z_]+$/.test(name)) {
      try {
        void new RegExp(`\\p{Script=${name}}`, 'u');
        return `\\p{Script=${name}}`;
      } catch {}
    }
    throw new PeruseError('invalid_argument', `There is no Unicode script ${show(name)}. Names are 'Latin', 'Cyrillic', 'Han' and so on.`);
  });
  const fits = new RegExp(`^(?:[${names.join('')}\\p{M}]|[^\\p{L}])*$`, 'u');
  return (text) => (/\p{L}/u.test(text) ? fits.test(text) : kCommon.test(text));
}

/** The characters that represent bytes in byte-level tokenizers. */
function byteSymbols(): Map<string, number> {
  const symbols = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; ++byte) {
    const isOwn = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    symbols.set(String.fromCodePoint(isOwn ? byte : next++), byte);
  }
  return symbols;
}
