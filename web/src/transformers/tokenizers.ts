// AutoTokenizer: a callable tokenizer with the calls of transformers.js's.
import { PeruseError, type PipelineOptions, Tensor } from '../face.js';
import type { EncodeOptions, Encoding, Source } from '../tokenizer/face.js';
import { Tokenizer, type TokenizerOptions } from '../tokenizer/tokenizer.js';
import { kTyped } from './known_names.js';
import { refusing } from './others.js';

/** Options of a call. */
export interface BatchEncodeOptions {
  /** The second texts of pairs. */
  text_pair?: string | readonly string[] | null;
  add_special_tokens?: boolean;
  /** Pad to the longest (true, 'longest'), or to `max_length` ('max_length'). Default false. */
  padding?: boolean | 'longest' | 'max_length' | 'do_not_pad';
  /**
   * Cut to `max_length`. true: cut the end of the row, special tokens included, as in transformers.js. A strategy by name: cut texts, and keep
   * special tokens, as in transformers. Default: false, or true if `max_length` is given without `padding`.
   */
  truncation?: EncodeOptions['truncation'] | null;
  /** Default, and most: the tokenizer's `model_max_length`. */
  max_length?: number | null;
  /** Return tensors (default), or lists. */
  return_tensor?: boolean;
  /** Default: as tokenizer_config.json says. */
  return_token_type_ids?: boolean | null;
}

/** Tensors of whole numbers, [texts, tokens]. */
export type TokenTensor = Tensor<BigInt64Array>;

/** What a call returns: the input of models. With `return_tensor: false` lists. */
export interface BatchEncoding<T = TokenTensor> {
  input_ids: T;
  attention_mask: T;
  /** If the model reads them, or with `return_token_type_ids`. */
  token_type_ids?: T;
}

type Lists<I> = I extends readonly unknown[] ? number[][] : number[];
type Encoded<I, O> = BatchEncoding<O extends { return_tensor: false } ? Lists<I> : TokenTensor>;
/** Options of decode() and batch_decode(). */
export interface BatchDecodeOptions {
  skip_special_tokens?: boolean;
  /** Only what tokenizer_config.json says. */
  clean_up_tokenization_spaces?: boolean | null;
}

type Ids = readonly (number | bigint)[] | TokenTensor;

/** A tokenizer: a function with members. */
export interface PreTrainedTokenizer extends SpecialTokens {
  <I extends string | readonly string[], const O extends BatchEncodeOptions = Record<never, never>>(text: I, options?: O): Encoded<I, O>;
  encode(text: string, options?: { text_pair?: string | null; add_special_tokens?: boolean }): number[];
  /** The same with the arguments of version 2. */
  encode(text: string, text_pair: string | null | undefined, options?: { add_special_tokens?: boolean }): number[];
  tokenize(text: string, options?: { pair?: string | null; add_special_tokens?: boolean }): string[];
  decode(ids: Ids, options?: BatchDecodeOptions): string;
  batch_decode(batch: readonly Ids[] | TokenTensor, options?: BatchDecodeOptions): string[];
  /** The id of a token in the vocabulary, or the ids of several; undefined for unknown ones. */
  convert_tokens_to_ids<T extends string | readonly string[]>(tokens: T): T extends string ? number | undefined : (number | undefined)[];
  /** The ids of all tokens. */
  get_vocab(): Map<string, number>;
  /** Version 3's way to the vocabulary. */
  readonly model: { readonly tokens_to_ids: Map<string, number>; readonly vocab: string[] };
  /** Throws 'unsupported'. */
  apply_chat_template(...given: readonly unknown[]): never;
  /** The most tokens of a row with `truncation`. */
  model_max_length: number;
  /** The content of tokenizer_config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Where padding goes. Default: what tokenizer_config.json says, or 'right'. */
  padding_side: 'left' | 'right';
  /** The id of padding. */
  pad_token_id: number | undefined;
  readonly all_special_tokens: string[];
  readonly all_special_ids: number[];
  /** Frees the memory. */
  dispose(): void;
}

/** The special tokens that tokenizers have as members, with their ids. */
const kSpecial = ['bos_token', 'eos_token', 'mask_token', 'pad_token', 'sep_token', 'unk_token'] as const;
type SpecialToken = (typeof kSpecial)[number];

/** The special tokens and their ids; undefined if the tokenizer lacks one. */
type SpecialTokens = Readonly<
  Record<SpecialToken, string | undefined> & Record<`${Exclude<SpecialToken, 'pad_token'>}_id`, number | undefined>
> & { pad_token_id: number | undefined };

const kTokenizers = new WeakSet<object>();

/** The class of all tokenizers, for `instanceof`. */
export const PreTrainedTokenizer = class {
  /** Throws 'unsupported': AutoTokenizer.from_pretrained() makes tokenizers. */
  constructor() {
    throw new PeruseError('unsupported', 'Use AutoTokenizer.from_pretrained() to load a tokenizer.');
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'function' && kTokenizers.has(value);
  }
};

/** Options of models, which programs also pass to tokenizers. They change nothing there. */
const kOfModels = 'config device dtype legacy model_file_name quantized session_options subfolder use_external_data_format'.split(' ');

/** How to load a tokenizer. Options of models change nothing. */
export type PreTrainedTokenizerOptions = TokenizerOptions &
  Pick<PipelineOptions, 'config' | 'device' | 'dtype' | 'model_file_name' | 'quantized' | 'subfolder'>;

export function tokenizerOptions(options: object | null | undefined): TokenizerOptions {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([name, value]) => value !== null && !kOfModels.includes(name)));
}

/** Loads tokenizers. */
export const AutoTokenizer = class extends PreTrainedTokenizer {
  /** Loads the tokenizer of a model. */
  static async from_pretrained(source: Source, options?: PreTrainedTokenizerOptions): Promise<PreTrainedTokenizer> {
    return callable(await Tokenizer.from_pretrained(source, tokenizerOptions(options)));
  }
};

function callable(tokenizer: Tokenizer): PreTrainedTokenizer {
  const { special_tokens: special, max_length, settings_: settings } = tokenizer;
  const idsOf = (text: string, pair: string | null | undefined, add_special_tokens: boolean) =>
    tokenizer.encode(text, { add_special_tokens, ...(typeof pair === 'string' && { text_pair: pair }) }).ids;
  const decode: PreTrainedTokenizer['decode'] = (ids, { clean_up_tokenization_spaces: cleans, ...options } = {}) => {
    if ((cleans ?? settings[kCleans] === true) !== (settings[kCleans] === true)) {
      throw new PeruseError('unsupported', `${kCleans} can't be changed: tokenizer_config.json decides.`);
    }
    return tokenizer.decode(Array.from(ids instanceof Tensor ? ids.data : ids, Number), options);
  };
  let vocabulary: Map<string, number> | undefined;
  const get_vocab = () => {
    vocabulary ??= vocabularyOf(tokenizer);
    return vocabulary;
  };
  const specials = Object.values(special).sort((one, other) => one.id - other.id);
  const convert = (tokens: string | readonly string[]) =>
    typeof tokens === 'string' ? tokenizer.convert_tokens_to_ids([tokens])[0] : tokenizer.convert_tokens_to_ids(tokens);
  const members = {
    encode: (text: string, given?: EncodeOptionsOrPair, options?: { add_special_tokens?: boolean }) => {
      const { text_pair, add_special_tokens = true } = typeof given === 'object' && given ? given : { text_pair: given, ...options };
      return idsOf(text, text_pair, add_special_tokens);
    },
    tokenize: (text, { pair, add_special_tokens = false } = {}) => tokenizer.convert_ids_to_tokens(idsOf(text, pair, add_special_tokens)),
    decode,
    batch_decode: (batch, options) => Array.from(batch as Iterable<Ids>, (ids) => decode(ids, options)),
    convert_tokens_to_ids: convert as PreTrainedTokenizer['convert_tokens_to_ids'],
    get_vocab,
    model: {
      get tokens_to_ids() {
        return get_vocab();
      },
      get vocab() {
        return [...get_vocab().keys()];
      },
    },
    apply_chat_template: refusing('apply_chat_template'),
    model_max_length: max_length ?? Infinity,
    config: settings,
    padding_side: settings.padding_side === 'left' ? 'left' : 'right',
    all_special_tokens: specials.map(({ token }) => token),
    all_special_ids: specials.map(({ id }) => id),
    ...specialTokens(tokenizer),
    dispose: () => tokenizer.dispose(),
  } satisfies { [N in keyof PreTrainedTokenizer]: PreTrainedTokenizer[N] };
  const call = (text: string | readonly string[], options?: BatchEncodeOptions | null) => encodeBatch(tokenizer, made, text, options ?? {});
  const made = withCall(call, members) as unknown as PreTrainedTokenizer; // programs may set its padding_side, pad_token_id and model_max_length
  kTokenizers.add(made);
  return made;
}

const kCleans = 'clean_up_tokenization_spaces';

type EncodeOptionsOrPair = { text_pair?: string | null; add_special_tokens?: boolean } | string | null;

/** Adds members to a function, and transformers.js's inner name of the function, which some programs call. */
export function withCall<F extends object, M extends object>(call: F, members: M): F & M {
  return Object.assign(Object.defineProperty(call, '_call', { value: call }), members);
}

/** The tokens and their ids. Some numbers below the largest id may be no ids. */
function vocabularyOf(tokenizer: Tokenizer): Map<string, number> {
  const found = new Map<string, number>();
  const add = (start: number, end: number): void => {
    try {
      const ids = Array.from({ length: end - start }, (_, i) => start + i);
      for (const [i, token] of tokenizer.convert_ids_to_tokens(ids).entries()) found.set(token, start + i);
    } catch (error) {
      if ((error as PeruseError).code !== 'invalid_argument') throw error;
      const middle = Math.floor((start + end) / 2);
      if (middle === start) return;
      add(start, middle);
      add(middle, end);
    }
  };
  add(0, tokenizer.vocab_size);
  return found;
}

function specialTokens(tokenizer: Tokenizer): SpecialTokens {
  const { special_tokens: special, settings_: settings } = tokenizer;
  const tokens = kSpecial.flatMap((name) => {
    const { token, id } = special[name] ?? { token: tokenIn(settings[name]), id: undefined };
    return [
      [name, token],
      [`${name}_id`, id ?? (token === undefined ? undefined : tokenizer.convert_tokens_to_ids([token])[0])],
    ];
  });
  return Object.fromEntries(tokens) as SpecialTokens;
}

/** A token in tokenizer_config.json: a string, or an object with the content. */
function tokenIn(setting: unknown): string | undefined {
  const content = typeof setting === 'object' && setting !== null ? (setting as { content?: unknown }).content : setting;
  return typeof content === 'string' ? content : undefined;
}

/** The members of a tokenizer that decide about rows. */
type RowSettings = Pick<PreTrainedTokenizer, 'model_max_length' | 'padding_side' | 'pad_token_id'>;

function encodeBatch(
  tokenizer: Tokenizer,
  settings: RowSettings,
  text: string | readonly string[],
  options: BatchEncodeOptions,
): BatchEncoding<unknown> {
  const most = Math.min(options.max_length ?? Infinity, settings.model_max_length);
  const encodings = encodingsOf(tokenizer, most, text, options);
  const length = paddedLength(most, encodings, options);
  const filled = (values: (encoding: Encoding) => number[], pad: number) =>
    encodings.map((encoding) => {
      const own = values(encoding);
      const padding = Array<number>(Math.max(0, length - own.length)).fill(pad);
      return settings.padding_side === 'left' ? [...padding, ...own] : [...own, ...padding];
    });
  const lists = (rows: number[][]) => (typeof text === 'string' ? rows[0] : rows);
  const convert = options.return_tensor === false ? lists : tensorOf;
  return {
    input_ids: convert(filled(({ ids }) => ids, settings.pad_token_id ?? 0)),
    attention_mask: convert(filled(({ ids }) => ids.map(() => 1), 0)),
    ...((options.return_token_type_ids ?? hasTypes(tokenizer)) && { token_type_ids: convert(filled(({ type_ids }) => type_ids, 0)) }),
  };
}

function hasTypes({ settings_: { model_input_names, tokenizer_class }, config }: Tokenizer): boolean {
  if (Array.isArray(model_input_names)) return model_input_names.includes('token_type_ids');
  const names = [tokenizer_class, config?.model_type].map((name) => String(name).replace(/Tokenizer(Fast)?$|[-_]/g, ''));
  return names.some((name) => kTyped.test(name.toLowerCase()));
}

function encodingsOf(
  tokenizer: Tokenizer,
  most: number,
  text: string | readonly string[],
  { text_pair, add_special_tokens = true, padding, max_length, ...given }: BatchEncodeOptions,
): Encoding[] {
  const truncation = given.truncation ?? (typeof max_length === 'number' && !padding);
  const texts = textsIn(text, 'text');
  const pairs = text_pair === undefined || text_pair === null ? undefined : textsIn(text_pair, 'text_pair');
  if (pairs && (typeof text_pair === 'string') !== (typeof text === 'string')) throw wrong('text_pair must be a list if the text is one.');
  if (pairs && pairs.length !== texts.length) throw wrong(`There are ${texts.length} texts and ${pairs.length} in text_pair.`);
  const named = typeof truncation === 'string' && { truncation, ...(most < Infinity && { max_length: most }) };
  return texts.map((one, row) => {
    const whole = tokenizer.encode(one, { add_special_tokens, ...(pairs && { text_pair: pairs[row]! }), ...named });
    return truncation === true ? { ...whole, ids: whole.ids.slice(0, most), type_ids: whole.type_ids.slice(0, most) } : whole;
  });
}

function textsIn(given: unknown, name: string): readonly string[] {
  const texts = typeof given === 'string' ? [given] : given;
  if (Array.isArray(texts) && texts.every((one) => typeof one === 'string')) return texts;
  throw wrong(`${name} must be a string or a list of strings.`);
}

/** The least number of tokens of a row. */
function paddedLength(most: number, encodings: readonly Encoding[], { padding }: BatchEncodeOptions): number {
  if (padding === undefined || padding === false || padding === 'do_not_pad') return 0;
  const longest = Math.max(0, ...encodings.map(({ ids }) => ids.length));
  if (padding !== 'max_length') return longest;
  return most < Infinity ? most : longest;
}

function tensorOf(rows: readonly number[][]): TokenTensor {
  const width = rows[0]?.length ?? 0;
  if (rows.some((row) => row.length !== width)) {
    throw wrong('The texts have different numbers of tokens: pass padding: true and truncation: true.');
  }
  return new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, width]);
}

function wrong(message: string): PeruseError {
  return new PeruseError('invalid_argument', message);
}
