import createModule from '../../wasm/glue-tokenizer.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { EngineTokenizer, type TokenizerModule, type TokenizerReport } from '../engine/engine_tokenizer.js';
import { type BuildAccess, startModule } from '../engine/start_module.js';
import { env } from '../env.js';
import { asArgumentError, PeruseError, throwIfAborted } from '../errors.js';
import { Listener } from '../listener.js';
import { checkOptions, type Given, kSourceOptions, option } from '../options.js';
import { engineFiles } from '../platform/paths.js';
import { type ProgressCallback, type ProgressInfo, Totals } from '../progress.js';
import { readForTokenizer } from '../sources/checkpoint.js';
import { parseObject } from '../sources/json.js';
import { type ModelFolder, type PathResolver, resolveSource, type Source, type SourceOptions, type SourceSpec } from '../sources/source.js';
import {
  type CountOptions,
  type DecodeOptions,
  type EncodeOptions,
  type Encoding,
  runTokenizerCall,
  type TokenizerCall,
  type TokenizerCalls,
  tokenizerRequest,
  type WindowOptions,
} from '../tasks/tokenizer_calls.js';
import type { WasmModule } from '../web_types.js';

/** Opens a folder for `use`, which is repeated if files of a cache were wrong (healing.ts). */
export type WithFolder = <T>(spec: SourceSpec, signal: AbortSignal, use: (folder: ModelFolder) => Promise<T>) => Promise<T>;

interface TokenizerRuntime extends BuildAccess<'tokenizer'> {
  paths: PathResolver;
  withFolder: WithFolder;
}

let current: TokenizerRuntime | undefined;

function tokenizerRuntime(): TokenizerRuntime {
  if (current === undefined) throw new Error('The package was not imported by one of its entries.');
  return current;
}

/** Called once by each entry of the package. */
export function setTokenizerRuntime(next: TokenizerRuntime): void {
  current = next;
}

const kLoadOptions = {
  /** Receives each file's name and bytes during loading. */
  progress_callback: option<ProgressCallback>({ kind: 'function' }),
  /** Cancels loading. */
  signal: option({ kind: 'signal' }),
  /** The compiled peruse-tokenizer.wasm, for hosts that do not allow compilation at run time (Cloudflare's workers). */
  wasm_module: option<WasmModule>({ kind: 'other' }),
};

/** How to load a tokenizer. */
export interface TokenizerOptions extends SourceOptions, Given<typeof kLoadOptions> {}

const kModule = createModule as unknown as ModuleFactory<TokenizerModule>; // the loaders' types are declared as those of the engine's build

/** A model's tokenizer, without the model. Its calls are synchronous. */
export class Tokenizer {
  /** One more than the largest id. */
  readonly vocab_size: number;
  /** `model_max_length` in tokenizer_config.json, or undefined. A pipeline's tokenizer also considers the model's position table. */
  readonly max_length: number | undefined;
  /** `cls_token`, `sep_token`, `mask_token`, `pad_token` and `unk_token`, if they exist. */
  readonly special_tokens: Readonly<Record<string, { id: number; token: string }>>;
  /** The content of config.json, or undefined without that file. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** @internal The content of tokenizer_config.json. */
  readonly settings_: Readonly<Record<string, unknown>>;
  private engine_: EngineTokenizer | undefined;

  private constructor({ engine, report, config, settings }: Loaded) {
    this.config = config;
    this.settings_ = settings ?? {};
    this.engine_ = engine;
    this.vocab_size = report.vocab_size;
    this.max_length = report.max_length ?? undefined;
    this.special_tokens = report.special_tokens;
  }

  /**
   * Loads a model's tokenizer, without its weights.
   *
   * @param source The model: a URL or path of a folder, a hub id, or files. See {@link Source}.
   * @throws PeruseError.
   */
  static async from_pretrained(source: Source, options: TokenizerOptions = {}): Promise<Tokenizer> {
    try {
      return new Tokenizer(await load(source, checkOptions(options, { ...kLoadOptions, ...kSourceOptions })));
    } catch (error) {
      throw asArgumentError(error);
    }
  }

  /** Converts a text, or a pair, to tokens. */
  encode(text: string, options: EncodeOptions = {}): Encoding {
    return this.call('encode', text, options);
  }

  /** Splits a long text into windows. */
  windows(text: string, options: WindowOptions = {}): Encoding[] {
    return this.call('windows', text, options);
  }

  /** Counts the tokens of a text or a pair. */
  count(text: string, options: CountOptions = {}): number {
    return this.call('count', text, options);
  }

  /** Converts token ids to a text. Omits unknown ids. */
  decode(ids: readonly number[], options: DecodeOptions = {}): string {
    return this.call('decode', ids, options);
  }

  /** Returns the tokens of ids in the vocabulary: '##ing', '\u2581the'. Throws for unknown ids. */
  convert_ids_to_tokens(ids: readonly number[]): string[] {
    return this.call('convert_ids_to_tokens', ids);
  }

  /** Returns the ids of tokens in the vocabulary; undefined for unknown ones. */
  convert_tokens_to_ids(tokens: readonly string[]): (number | undefined)[] {
    return this.call('convert_tokens_to_ids', tokens);
  }

  /** Frees the memory. Later calls throw 'disposed'. */
  dispose(): void {
    const engine = this.engine_;
    this.engine_ = undefined;
    engine?.dispose();
  }

  private call<C extends TokenizerCall>(name: C, ...given: Parameters<TokenizerCalls[C]>): ReturnType<TokenizerCalls[C]> {
    if (this.engine_ === undefined) throw new PeruseError('disposed', 'This tokenizer was disposed of; load it again.');
    return runTokenizerCall(this.engine_, tokenizerRequest(name, given)) as ReturnType<TokenizerCalls[C]>;
  }
}

type Json = Record<string, unknown> | undefined;
type Loaded = { engine: EngineTokenizer; report: TokenizerReport; config: Json; settings: Json };

async function load(source: Source, options: TokenizerOptions): Promise<Loaded> {
  const runtime = tokenizerRuntime();
  const { paths } = runtime;
  const wasm = engineFiles({ ...options, filesFolder: env.filesPath }, paths.baseUrl());
  throwIfAborted(options.signal);
  const spec = await resolveSource(source, options, paths);
  const signal = options.signal ?? new AbortController().signal;
  return runtime.withFolder(spec, signal, (folder) => loadFrom(folder, spec.name, signal, options, wasm));
}

async function loadFrom(
  folder: ModelFolder,
  name: string,
  signal: AbortSignal,
  options: TokenizerOptions,
  wasm: ReturnType<typeof engineFiles>,
): Promise<Loaded> {
  const listener = new Listener(options.progress_callback);
  const reading = { name, folder, signal, report: (progress: ProgressInfo) => listener.tell(progress), totals: new Totals() };
  const starting = startModule(kModule, 'tokenizer', 1, wasm, tokenizerRuntime());
  starting.catch(() => {}); // awaited later; errors in the files have priority
  const files = await listener.unlessFailed(readForTokenizer(reading));
  const { module, lastWords } = await starting;
  throwIfAborted(signal);
  const engine = new EngineTokenizer(module, new module.Tokenizer(), lastWords);
  try {
    for (const { name, content } of files) engine.addFile(name, content);
    const report = engine.open();
    listener.tell({ status: 'ready', task: 'tokenizer', model: name });
    listener.check();
    const contentOf = (wanted: string) => {
      const file = files.find((one) => one.name === wanted);
      return file && parseObject(file.name, file.content);
    };
    return { engine, report, config: contentOf('config.json'), settings: contentOf('tokenizer_config.json') };
  } catch (error) {
    engine.dispose();
    throw error;
  }
}
