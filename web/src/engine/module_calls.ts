// Calls into an Emscripten module (bindings/): texts are passed as staged UTF-8, replies are JSON.
import { capital, describeError, type ErrorCode, PeruseError } from '../errors.js';

export interface WasmModule {
  /** The module's memory. It is replaced when memory grows: read the property again after every call. */
  readonly HEAPU8: Uint8Array;
}

/** The staging buffer of a bound object, through which texts are passed. */
export interface Staged {
  /** Reserves bytes and returns their address, or 0 without memory. */
  reserve(bytes: number): number;
}

export type Reply = { ok: true } & Record<string, unknown>;

interface ModuleState {
  broken?: string;
  users: number;
}

/** Calls into a module. Throws PeruseError; after 'worker_died' the module is unusable. */
export class ModuleCalls<M extends WasmModule> {
  private readonly state_: ModuleState;
  private gone_ = false;

  constructor(
    protected readonly module_: M,
    /** Returns the last output of the module, which may explain a trap. */
    protected readonly lastWords_: () => string = () => '',
    other?: ModuleCalls<M>,
  ) {
    this.state_ = other?.state_ ?? { users: 0 };
    this.state_.users += 1;
  }

  healthy(): boolean {
    return !this.gone_ && this.state_.broken === undefined;
  }

  protected isLast(): boolean {
    return !this.gone_ && this.state_.users === 1;
  }

  /** Ends this caller's use of the module. Runs `release` unless the module is broken. Returns whether no other caller is left. */
  protected leave(release: () => void): boolean {
    if (this.gone_) return false;
    try {
      if (this.state_.broken === undefined) this.guard(release);
    } finally {
      this.gone_ = true;
      this.state_.users -= 1;
    }
    return this.state_.users === 0;
  }

  protected stageJson(into: Staged, value: unknown): number {
    const bytes = toUtf8(value);
    this.stage(into, bytes, 'the request');
    return bytes.length;
  }

  protected stage(into: Staged, content: Uint8Array, what: string): void {
    const address = this.guard(() => into.reserve(content.length)) >>> 0;
    if (address === 0) {
      throw new PeruseError('out_of_memory', `There is no memory for ${what}: ${content.length} bytes.`);
    }
    this.module_.HEAPU8.set(content, address);
  }

  protected call(method: () => string): Reply {
    const reply = JSON.parse(this.guard(method)) as Reply | { ok: false; code: ErrorCode; message: string };
    if (!reply.ok) throw new PeruseError(reply.code, sentence(reply.message));
    return reply;
  }

  /** Runs a call into the module. Anything that it throws is a trap, after which the module's memory is unreliable. */
  protected guard<T>(method: () => T): T {
    const broken = this.gone_ ? 'It was disposed of.' : this.state_.broken;
    if (broken !== undefined) throw new PeruseError('worker_died', `The engine has stopped: ${broken}`);
    try {
      return method();
    } catch (error) {
      this.state_.broken = this.lastWords_() || describeError(error);
      throw new PeruseError('worker_died', `The engine stopped: ${this.state_.broken}`, { cause: error });
    }
  }
}

function sentence(message: string): string {
  return /^[a-z]+[ ,]/.test(message) ? capital(message) : message;
}

/** Converts a request to JSON. A string above the browser's limit throws 'out_of_memory'. */
function toUtf8(value: unknown): Uint8Array {
  try {
    const json = JSON.stringify(value, (_, item: unknown) => (typeof item === 'string' ? wellFormed(item) : item));
    return new TextEncoder().encode(json);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PeruseError('out_of_memory', `There is no memory for the request: ${describeError(error)}.`, { cause: error });
  }
}

/** Replaces lone surrogates by U+FFFD, so that the text has an exact UTF-8 form; string indices stay valid. */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
