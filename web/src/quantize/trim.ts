// trimCheckpoint(): writes a checkpoint with the part of its vocabulary that given texts or scripts need (Node).
import { PeruseError, show } from '../errors.js';
import { Tokenizer } from '../index_tokenizer_node.js';
import { runtime } from '../platform/current.js';
import { locate, modulesIn, readForTokenizer, readStanford } from '../sources/checkpoint.js';
import type { FileAccess } from '../sources/file_access.js';
import { healing } from '../sources/folders/healing.js';
import { firstObject, isObject, parseObject, textOf } from '../sources/json.js';
import { labelsEncoderOf } from '../sources/label_models.js';
import { kPrompts, kSentenceConfigs } from '../sources/model_files.js';
import { openCheckpoint } from '../sources/open_checkpoint.js';
import { type NamedFile, type Reading, readFirstThere, readThoseThere, readWhole } from '../sources/read_files.js';
import { resolveSource, type Source, type SourceSpec } from '../sources/source.js';
import { openRouted, type RewriteOptions, type RowTrim, rewriteCheckpoint, writeModel } from './rewrite_checkpoint.js';
import { Vocabulary } from './vocabulary.js';

/** Which pieces of the vocabulary to keep. `texts` or `keep_scripts` is required. */
export interface TrimOptions extends RewriteOptions {
  /** Texts whose pieces are kept. */
  texts?: Iterable<string>;
  /** Unicode scripts whose pieces are all kept: 'Latin', 'Cyrillic', 'Han', ... */
  keep_scripts?: readonly string[];
  /** Keep at least this many pieces: the first of the vocabulary, which are the most frequent ones, in addition to those of the texts. */
  least_pieces?: number;
  /** Write the model even if more than a fifth of the held-out texts are split into other pieces. Default false. */
  force?: boolean;
  /** Texts to compare the tokenizers with; their pieces are not kept. Default: every tenth of `texts`. */
  held_out?: Iterable<string>;
}

/** Report of trimCheckpoint(). */
export interface TrimReport {
  /** Numbers of pieces (rows of the token embeddings) before and after. */
  piecesBefore: number;
  piecesAfter: number;
  /** Bytes of the weights before and after. */
  bytesBefore: number;
  bytesAfter: number;
  /** Number of held-out texts, and of those that are split into other pieces than before. */
  heldOut: number;
  changed: number;
  /** Omitted files, which contain the old vocabulary in another format. */
  dropped: string[];
}

/** Length of the beginning of a text that a prompt can change. */
const kStart = 48;
/** Share of the held-out texts that may change. */
const kMostChanged = 0.2;
const kIdFields = /token_(id|index)$/;
const kOtherForms = ['spm.model', 'spiece.model', 'sentencepiece.bpe.model', 'vocab.txt', 'vocab.json', 'merges.txt', 'added_tokens.json'];

/**
 * Writes the checkpoint of `source` to `folder` with fewer pieces. Kept rows keep their order; ids in config.json and the tokenizer follow.
 * A text whose pieces are all kept gets the same pieces (with WordPiece, if none of them is unknown).
 *
 * @throws PeruseError: those of loading; 'invalid_argument' if more than a fifth of the held-out texts change; 'unsupported' without tokenizer.json, and for models that read labels by a second tokenizer.
 */
export async function trimCheckpoint(source: Source, folder: string, options: TrimOptions = {}): Promise<TrimReport> {
  return writeModel(source, folder, options, async (staged) => {
    const plan = await planTrim(source, options);
    const { bytesBefore, bytesAfter } = await rewriteCheckpoint(source, staged, options, undefined, undefined, plan.trim);
    const trimmed = await plan.compare(staged);
    refuseMisfit(trimmed, options);
    return { ...trimmed, bytesBefore, bytesAfter };
  });
}

/** Throws if a trimmed vocabulary does not fit texts that were held out. */
export function refuseMisfit({ heldOut, changed }: Pick<TrimReport, 'heldOut' | 'changed'>, { force }: TrimOptions): void {
  if (force === true || changed <= kMostChanged * heldOut) return;
  const words = `${changed} of ${heldOut} held-out texts would be split into other pieces than before`;
  throw new PeruseError('invalid_argument', `${words}. Use more texts, keep_scripts or least_pieces, or set force to true.`);
}

interface TrimPlan {
  trim: RowTrim;
  compare(folder: string): Promise<Omit<TrimReport, 'bytesBefore' | 'bytesAfter'>>;
}

export async function planTrim(source: Source, options: TrimOptions): Promise<TrimPlan> {
  const spec = await resolveSource(source, options, runtime().paths);
  return healing((opened) => planOnce(spec, options, { ...runtime(), opened }));
}

async function planOnce(spec: SourceSpec, options: TrimOptions, files: FileAccess): Promise<TrimPlan> {
  const signal = options.signal ?? new AbortController().signal;
  const root = await (options.route === undefined
    ? openCheckpoint(spec, files, signal)
    : openRouted(spec, files.opened, signal, options.route));
  const { job: encoder, config: file, prefix } = await locate(root);
  const config = parseObject(file.where, file.content);
  if (labelsEncoderOf(config) !== undefined) {
    throw new PeruseError('unsupported', 'config.json names a labels encoder: models with two vocabularies are not trimmed.');
  }
  const needs = await trimNeeds(root, encoder, file);
  const rows = vocabularySize(config);
  const opened = await encoder.folder.open('tokenizer.json', signal);
  if (!opened.found) throw new PeruseError('unsupported', `Trimming needs tokenizer.json: ${opened.where} does not exist (${opened.why}).`);
  const { content } = await readWhole(encoder, 'tokenizer.json', opened);
  const vocabulary = new Vocabulary(parseObject(opened.where, content));
  for (const [piece, id] of vocabulary.ids) {
    if (id >= rows) throw new PeruseError('unsupported', `tokenizer.json: ${show(piece)} has the id ${id}, and vocab_size is ${rows}.`);
  }
  const { texts, heldOut } = divided(options);
  const scripts = options.keep_scripts ?? [];
  if (texts.length === 0 && scripts.length === 0) {
    throw new PeruseError('invalid_argument', 'Trimming needs texts or keep_scripts, which determine what to keep.');
  }
  const own = await readForTokenizer(root);
  const before = await Tokenizer.from_pretrained(Object.fromEntries(own.map((one) => [one.name, one.content])), { signal });
  const used = new Set<number>();
  const characters = new Set<string>();
  for (const text of withPrompts(texts, needs.prompts)) {
    for (const id of before.encode(text).ids) used.add(id);
    for (const character of text) characters.add(character);
  }
  for (const [piece, id] of vocabulary.ids) if (needs.pieces.includes(piece)) used.add(id);
  const kept = vocabulary.keep({ used, characters, scripts, named: namedIds(config), least: leastPieces(options) });
  const to = new Map(kept.map((id, index) => [id, index]));
  const json = vocabulary.trimmed(to);
  const dropped: string[] = [];
  const trim: RowTrim = {
    rows,
    kept,
    config: (whole) => withIds(whole, rows, to) as Record<string, unknown>,
    files: (all) => {
      const result = new Map<string, Uint8Array>();
      for (const [name, content] of all) {
        const own = name.startsWith(prefix) ? name.slice(prefix.length) : '';
        if (own === 'tokenizer.json') result.set(name, toBytes(json));
        else if (own === 'tokenizer_config.json') result.set(name, toBytes(withDecoder(parseObject(name, content), to)));
        else if (kOtherForms.includes(own)) dropped.push(name);
        else result.set(name, content);
      }
      return result;
    },
  };
  return {
    trim,
    async compare(folder) {
      const after = await Tokenizer.from_pretrained(folder, { signal });
      try {
        const changed = heldOut.filter((text) => {
          const [old, now] = [before.encode(text).ids, after.encode(text).ids];
          return old.length !== now.length || old.some((id, i) => to.get(id) !== now[i]);
        });
        return { piecesBefore: rows, piecesAfter: kept.length, heldOut: heldOut.length, changed: changed.length, dropped };
      } finally {
        await after.dispose();
        await before.dispose();
      }
    },
  };
}

/** The texts, the prompts, and each prompt with the beginnings of the texts, whose pieces a prompt can change. */
function* withPrompts(texts: readonly string[], prompts: readonly string[]): Generator<string> {
  yield* texts;
  const starts = new Set(texts.map((text) => text.slice(0, kStart)));
  for (const prompt of prompts) {
    yield prompt;
    for (const start of starts) yield prompt + start;
  }
}

function leastPieces({ least_pieces: least = 0 }: TrimOptions): number {
  if (Number.isSafeInteger(least) && least >= 0) return least;
  throw new PeruseError('invalid_argument', `least_pieces must be a whole number from 0 on, not ${show(least)}.`);
}

function divided({ texts = [], held_out: heldOut }: TrimOptions): { texts: string[]; heldOut: string[] } {
  const all = [...texts];
  if (!all.every((text) => typeof text === 'string')) throw new PeruseError('invalid_argument', 'texts must be strings.');
  if (heldOut) return { texts: all, heldOut: [...heldOut] };
  return { texts: all.filter((_, i) => i % 10 !== 9), heldOut: all.filter((_, i) => i % 10 === 9) };
}

function vocabularySize(config: Record<string, unknown>): number {
  const { vocab_size: size } = isObject(config.encoder_config) ? { ...config.encoder_config } : config;
  if (typeof size === 'number' && Number.isSafeInteger(size) && size > 0) return size;
  throw new PeruseError(
    'unsupported',
    `config.json: vocab_size is ${show(size)}; trimming needs the number of rows of the word embeddings.`,
  );
}

function namedIds(value: unknown): number[] {
  if (Array.isArray(value)) return value.flatMap(namedIds);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => (kIdFields.test(key) && isId(one) ? [one] : namedIds(one)));
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function withIds(value: unknown, rows: number, to: ReadonlyMap<number, number>): unknown {
  if (Array.isArray(value)) return value.map((one) => withIds(one, rows, to));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'vocab_size' && one === rows ? to.size : kIdFields.test(key) && isId(one) ? to.get(one) : withIds(one, rows, to),
    ]),
  );
}

function withDecoder(config: Record<string, unknown>, to: ReadonlyMap<number, number>): Record<string, unknown> {
  const { added_tokens_decoder: decoder } = config;
  if (!isObject(decoder)) return config;
  const kept = Object.entries(decoder).flatMap(([id, token]) => (to.has(Number(id)) ? [[to.get(Number(id)), token]] : []));
  return { ...config, added_tokens_decoder: Object.fromEntries(kept) };
}

function toBytes(json: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(json, null, 2)}\n`);
}

// What a folder of sentence-transformers, PyLate or Stanford's ColBERT needs of its vocabulary in addition to the pieces of texts.

interface TrimNeeds {
  /** Texts that are put before others. */
  prompts: string[];
  /** Pieces that are looked up by name. */
  pieces: string[];
}

/** Modules of models that compute with ids of the vocabulary themselves. */
const kFixed: Readonly<Record<string, string>> = {
  SpladePooling: 'each number of its vectors belongs to a piece, also to pieces that no text has',
  SparseStaticEmbedding: 'it has a weight for each piece',
  LogitScore: 'it reads the score of a pair from two pieces, after a template',
};

/** Throws 'unsupported' for a model whose vocabulary must stay as it is. */
async function trimNeeds(root: Reading, encoder: Reading, config: NamedFile): Promise<TrimNeeds> {
  const modules = await modulesIn(root);
  for (const { type } of modules) {
    const why = kFixed[type];
    if (why) throw new PeruseError('unsupported', `modules.json names a ${type}: ${why}. Its vocabulary is not trimmed.`);
  }
  const { architectures } = parseObject(config.name, config.content);
  if (modules.length === 0 && textOf([architectures].flat()[0]).endsWith('ForCausalLM')) {
    throw new PeruseError('unsupported', 'config.json: a language model ranks by pieces of its answer. Its vocabulary is not trimmed.');
  }
  const settings = firstObject(await readThoseThere(root, [kPrompts]));
  const stanford = modules.length === 0 ? await readStanford(encoder, config) : undefined;
  const { query_token_id: query, doc_token_id: document } = stanford ? firstObject(stanford) : {};
  const own = stanford ? [query ?? '[unused0]', document ?? '[unused1]'].map((piece) => `${textOf(piece)} `) : [];
  const markers = [...own, textOf(settings.query_prefix), textOf(settings.document_prefix)];
  const prompts = Object.values(isObject(settings.prompts) ? settings.prompts : {}).map(textOf);
  const transformer = modules.length > 0 ? firstObject(await readFirstThere(encoder, kSentenceConfigs)) : {};
  const completing = [settings, transformer].map(({ query_expansion: expansion }) => (isObject(expansion) ? textOf(expansion.token) : ''));
  return {
    prompts: [...new Set([...prompts, ...markers])].filter((text) => text !== ''),
    pieces: [...markers.map((marker) => marker.trim()), ...completing],
  };
}
