// Tokenizer: texts to token ids and back, without a model.
import createModule from '../../wasm/glue-tokenizer.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { startModule } from '../engine/start_build.js';
import { env } from '../env.js';
import { asArgumentError, PeruseError, show, throwIfAborted } from '../errors.js';
import { Listener } from '../listener.js';
import { checkLoadOptions, type OptionKind } from '../load_options.js';
import { engineFiles } from '../platform/engine_folder.js';
import { type ProgressCallback, Totals } from '../progress.js';
import { openFolder } from '../sources/open_folder.js';
import { encoderWithin, type NamedFile, type Reading, readThoseThere, readTokenizer } from '../sources/read_files.js';
import { resolveSource, type Source, type SourceOptions } from '../sources/source.js';
import { checkedOptions, checkString, checkStrings } from '../tasks/call.js';
import { EngineTokenizer, kCells, type TokenizerModule, type TokenizerReport } from './engine_tokenizer.js';
import { tokenizerParts } from './parts.js';

/** How to load a tokenizer. */
export interface TokenizerOptions extends SourceOptions {
  /** Told of every file and its bytes while loading. */
  progress_callback?: ProgressCallback;
  /** Cancels loading. */
  signal?: AbortSignal;
  /** URL of a folder that holds peruse-tokenizer.wasm, instead of the package's own. Default: `env.wasmPath`. */
  wasmPath?: string | URL;
  /** peruse-tokenizer.wasm, compiled, where nothing may be compiled while the program runs (Cloudflare's workers). */
  wasmModule?: WebAssembly.Module;
}

/** What is counted or encoded beside the text, and how. */
export interface CountOptions {
  /** The second text of a pair. */
  text_pair?: string;
  /** Put [CLS], [SEP] and their kin where the model expects them. Default true. */
  add_special_tokens?: boolean;
}

/** How to encode a text. */
export interface EncodeOptions extends CountOptions {
  /**
   * Cut what is longer than `max_length`: from the longer text of a pair first (true, 'longest_first'), or from one of the two.
   * Default false: nothing is cut.
   */
  truncation?: boolean | 'longest_first' | 'only_first' | 'only_second';
  /** Tokens to cut to, special tokens included. Default: `tokenizer.max_length`; where that says nothing, nothing is cut. */
  max_length?: number;
}

/** How to cut a text into windows. */
export interface WindowOptions extends CountOptions {
  /** What of a pair is cut. Default 'longest_first'. */
  truncation?: 'longest_first' | 'only_first' | 'only_second';
  /** Tokens of a window, special tokens included. Default: `tokenizer.max_length`; where that says nothing, there is one window. */
  max_length?: number;
  /** Tokens that a window shares with the one before. Default 0. */
  stride?: number;
}

/** A text as tokens. All lists have the same length, an item for each token. */
export interface Encoding {
  ids: number[];
  /** 0 for the first text and 1 for the second, where the tokenizer tells them apart. */
  type_ids: number[];
  /** UTF-16 indices of the text that the token came from: `text.slice(start, end)`. 0 and 0 for special tokens. */
  offsets: [start: number, end: number][];
  /** The number of the word within its text; null for special tokens. */
  word_ids: (number | null)[];
  /** 0: of the text; 1: of `text_pair`; null: of neither. */
  sequence_ids: (0 | 1 | null)[];
  /** 1: added by the tokenizer. */
  special_tokens_mask: (0 | 1)[];
}

const kModule = createModule as unknown as ModuleFactory<TokenizerModule>; // All glue is declared as the engine's.

const kLoadOptions: Record<keyof TokenizerOptions, OptionKind> = {
  local_files_only: 'boolean',
  progress_callback: 'function',
  revision: 'string',
  signal: 'signal',
  token: 'string',
  wasmModule: 'other',
  wasmPath: 'other',
};

const kCount = { text_pair: true, add_special_tokens: true } as const;
const kEncode = { ...kCount, truncation: true, max_length: true } as const;
const kWindow = { ...kEncode, stride: true } as const;

/** The tokenizer of a model, alone. Its calls are not awaited; they run in this thread. */
export class Tokenizer {
  /** One more than the largest id. */
  readonly vocab_size: number;
  /**
   * `model_max_length` of tokenizer_config.json; undefined where there is none. A pipeline reads config.json too, and takes the smaller of
   * this and the model's table of positions.
   */
  readonly max_length: number | undefined;
  /** `cls_token`, `sep_token`, `mask_token`, `pad_token` and `unk_token`, as far as there are such. */
  readonly special_tokens: Readonly<Record<string, { id: number; token: string }>>;
  private engine_: EngineTokenizer | undefined;

  private constructor(engine: EngineTokenizer, report: TokenizerReport) {
    this.engine_ = engine;
    this.vocab_size = report.vocab_size;
    this.max_length = report.max_length ?? undefined;
    this.special_tokens = report.special_tokens;
  }

  /**
   * Loads a tokenizer: that of a model's folder, of which no weights are read.
   *
   * @param source Where the model is: a URL or path of a folder, a hub id, or its files. See {@link Source}.
   * @throws PeruseError with a `code` that says why.
   */
  static async from_pretrained(source: Source, options: TokenizerOptions = {}): Promise<Tokenizer> {
    try {
      const { engine, report } = await load(source, checkLoadOptions(options, kLoadOptions));
      return new Tokenizer(engine, report);
    } catch (error) {
      throw asArgumentError(error);
    }
  }

  /** The tokens of a text, or of a pair. */
  encode(text: string, options: EncodeOptions = {}): Encoding {
    const request = { ...checkedOptions('encode', kEncode, options), text: checkString(text, 'The text') };
    return encodingOf(this.engine().encode(request)[0]!);
  }

  /** A long text in windows, all of it. */
  windows(text: string, options: WindowOptions = {}): Encoding[] {
    const given = checkedOptions('windows', kWindow, options);
    const request = { truncation: 'longest_first', ...given, text: checkString(text, 'The text') };
    return this.engine().encode(request).map(encodingOf);
  }

  /** How many tokens a text, or a pair, has. */
  count(text: string, options: CountOptions = {}): number {
    return this.engine().count({ ...checkedOptions('count', kCount, options), text: checkString(text, 'The text') });
  }

  /** The text of token ids. Ids that do not exist are left out. */
  decode(ids: readonly number[], options: { skip_special_tokens?: boolean } = {}): string {
    return this.engine().decode({ ...checkedOptions('decode', { skip_special_tokens: true }, options), ids: checkIds(ids) });
  }

  /** The tokens' strings in the vocabulary: '##ing', '\u2581the'. An id that does not exist is an error. */
  convert_ids_to_tokens(ids: readonly number[]): string[] {
    return this.engine().idsToTokens(checkIds(ids));
  }

  /** The ids of strings of the vocabulary; undefined for one that does not exist. */
  convert_tokens_to_ids(tokens: readonly string[]): (number | undefined)[] {
    return this.engine()
      .tokensToIds(checkStrings(tokens, 'tokens'))
      .map((id) => id ?? undefined);
  }

  /** Gives the memory back. Later calls fail with 'disposed'. */
  dispose(): void {
    const engine = this.engine_;
    this.engine_ = undefined;
    engine?.dispose();
  }

  private engine(): EngineTokenizer {
    if (this.engine_ === undefined) throw new PeruseError('disposed', 'This tokenizer was disposed of; load it again.');
    return this.engine_;
  }
}

async function load(source: Source, options: TokenizerOptions): Promise<{ engine: EngineTokenizer; report: TokenizerReport }> {
  const { paths, folders, compile } = tokenizerParts();
  const wasm = engineFiles({ ...options, wasmPath: options.wasmPath ?? env.wasmPath }, paths.baseUrl());
  throwIfAborted(options.signal);
  const spec = await resolveSource(source, options, paths);
  const listener = new Listener(options.progress_callback);
  const reading: Reading = {
    name: spec.name,
    folder: await openFolder(spec, folders),
    report: (progress) => listener.tell(progress),
    signal: options.signal ?? new AbortController().signal,
    totals: new Totals(),
  };
  const starting = startModule(kModule, 'tokenizer', 1, wasm, {
    compile,
    startHelper: () => {
      throw new Error('the tokenizer has no threads');
    },
  });
  starting.catch(() => {}); // What is wrong with the files matters more.
  const files = await listener.unlessFailed(readFiles(reading));
  const { module, lastWords } = await starting;
  throwIfAborted(options.signal);
  const engine = new EngineTokenizer(module, lastWords);
  try {
    for (const { name, content } of files) engine.addFile(name, content);
    const report = engine.open();
    listener.tell({ status: 'ready', task: 'tokenizer', model: spec.name });
    listener.check();
    return { engine, report };
  } catch (error) {
    engine.dispose();
    throw error;
  }
}

/** Those of the tokenizer, and config.json, which may name its class. */
async function readFiles(reading: Reading): Promise<NamedFile[]> {
  const config = await readThoseThere(reading, ['config.json']);
  if (config.length > 0) return [...config, ...(await readTokenizer(reading))];
  const within = await encoderWithin(reading);
  if (within === undefined) return readTokenizer(reading);
  return [...(await readThoseThere(within, ['config.json'])), ...(await readTokenizer(within))];
}

function checkIds(ids: unknown): number[] {
  if (typeof ids !== 'object' || ids === null)
    throw new PeruseError('invalid_argument', `ids must be a list of token ids, not ${show(ids)}.`);
  const list = Array.from(ids as ArrayLike<unknown>);
  const wrong = list.find((id) => !Number.isSafeInteger(id) || (id as number) < 0);
  if (wrong === undefined) return list as number[];
  throw new PeruseError('invalid_argument', `ids must be a list of token ids, and ${show(wrong)} is none.`);
}

function encodingOf(cells: Int32Array): Encoding {
  const encoding: Encoding = { ids: [], type_ids: [], offsets: [], word_ids: [], sequence_ids: [], special_tokens_mask: [] };
  const orNull = (value: number) => (value < 0 ? null : value);
  for (let at = 0; at < cells.length; at += kCells) {
    encoding.ids.push(cells[at]!);
    encoding.type_ids.push(cells[at + 1]!);
    encoding.word_ids.push(orNull(cells[at + 2]!));
    encoding.sequence_ids.push(orNull(cells[at + 3]!) as 0 | 1 | null);
    encoding.special_tokens_mask.push(cells[at + 4]! as 0 | 1);
    encoding.offsets.push([cells[at + 5]!, cells[at + 6]!]);
  }
  return encoding;
}
