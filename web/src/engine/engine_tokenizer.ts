// The TypeScript side of bindings/tokenizer_binding.h: the tokenizer in peruse-tokenizer.wasm, or of a model in an engine.
import { kCells, type TokenizerEngine } from '../tasks/tokenizer_calls.js';
import { ModuleCalls, type Staged, type WasmModule } from './module_calls.js';

export interface TokenizerModule extends WasmModule {
  Tokenizer: new () => TokenizerBinding;
}

/** Methods except reserve(), cells() and delete() return JSON. Those with `bytes` read that number of bytes from the staging buffer. */
export interface TokenizerBinding extends Staged {
  addFile(name: string, bytes: number): string;
  open(): string;
  encode(bytes: number): string;
  cells(): number;
  count(bytes: number): string;
  decode(bytes: number): string;
  idsToTokens(bytes: number): string;
  tokensToIds(bytes: number): string;
  delete(): void;
}

export interface TokenizerReport {
  vocab_size: number;
  max_length: number | null;
  special_tokens: Record<string, { id: number; token: string }>;
}

export class EngineTokenizer extends ModuleCalls<WasmModule> implements TokenizerEngine {
  constructor(
    module: WasmModule,
    private readonly tokenizer_: TokenizerBinding,
    lastWords: () => string,
    other?: ModuleCalls<WasmModule>,
  ) {
    super(module, lastWords, other);
  }

  addFile(name: string, content: Uint8Array): void {
    this.stage(this.tokenizer_, content, name);
    this.call(() => this.tokenizer_.addFile(name, content.length));
  }

  open(): TokenizerReport {
    return this.call(() => this.tokenizer_.open()).about as TokenizerReport;
  }

  encode(request: object): Int32Array[] {
    const bytes = this.stageJson(this.tokenizer_, request);
    const windows = this.call(() => this.tokenizer_.encode(bytes)).windows as number[];
    let address = this.guard(() => this.tokenizer_.cells()) >>> 0;
    return windows.map((tokens) => {
      const size = 4 * kCells * tokens;
      address += size;
      return new Int32Array(this.module_.HEAPU8.slice(address - size, address).buffer);
    });
  }

  count(request: object): number {
    return this.ask(request, (bytes) => this.tokenizer_.count(bytes)).count as number;
  }

  decode(request: object): string {
    return this.ask(request, (bytes) => this.tokenizer_.decode(bytes)).text as string;
  }

  idsToTokens(ids: readonly number[]): string[] {
    return this.ask({ ids }, (bytes) => this.tokenizer_.idsToTokens(bytes)).tokens as string[];
  }

  tokensToIds(tokens: readonly string[]): (number | null)[] {
    return this.ask({ tokens }, (bytes) => this.tokenizer_.tokensToIds(bytes)).ids as (number | null)[];
  }

  dispose(): void {
    this.leave(() => this.tokenizer_.delete());
  }

  private ask(request: object, method: (bytes: number) => string) {
    const bytes = this.stageJson(this.tokenizer_, request);
    return this.call(() => method(bytes));
  }
}
