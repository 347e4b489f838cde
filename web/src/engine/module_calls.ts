// Calls into a module that Emscripten made (bindings/): texts go in as staged UTF-8, replies come back as JSON.
import { describe, type ErrorCode, PeruseError } from '../errors.js';

/** What every module has. */
export interface WasmModule {
  /** The module's memory. Growing replaces it: read the property again after every call. */
  readonly HEAPU8: Uint8Array;
}

/** What of an object of the module a text needs to get in. */
export interface Staged {
  /** Makes room for that many bytes and says where; 0 if there is no memory. */
  reserve(bytes: number): number;
}

export type Reply = { ok: true } & Record<string, unknown>;

/** What all that call one module know of it. */
interface ModuleState {
  broken?: string;
  users: number;
}

/** Throws PeruseError; 'worker_died' says that the module itself broke and takes no more calls. */
export class ModuleCalls<M extends WasmModule> {
  private readonly state_: ModuleState;
  private gone_ = false;

  constructor(
    protected readonly module_: M,
    /** The module's last words, which say more than the trap that follows them. */
    protected readonly lastWords_: () => string = () => '',
    /** Somebody else who calls the same module. */
    other?: ModuleCalls<M>,
  ) {
    this.state_ = other?.state_ ?? { users: 0 };
    this.state_.users += 1;
  }

  /** Whether later calls have a chance. */
  healthy(): boolean {
    return !this.gone_ && this.state_.broken === undefined;
  }

  /** Whether nobody else calls the module. */
  protected isLast(): boolean {
    return !this.gone_ && this.state_.users === 1;
  }

  /** Takes no calls from now on; `release` is the last, unless the module is broken. Gives whether nobody else calls the module. */
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
    if (!reply.ok) throw new PeruseError(reply.code, reply.message);
    return reply;
  }

  /** Anything that the module throws is a trap: its memory can't be trusted afterwards. */
  protected guard<T>(method: () => T): T {
    const broken = this.gone_ ? 'It was disposed of.' : this.state_.broken;
    if (broken !== undefined) throw new PeruseError('worker_died', `The engine has stopped: ${broken}`);
    try {
      return method();
    } catch (error) {
      this.state_.broken = this.lastWords_() || describe(error);
      throw new PeruseError('worker_died', `The engine stopped: ${this.state_.broken}`, { cause: error });
    }
  }
}

/** JSON of a request. A string that the browser can't make is too large for any engine. */
function toUtf8(value: unknown): Uint8Array {
  try {
    const json = JSON.stringify(value, (_, item: unknown) => (typeof item === 'string' ? wellFormed(item) : item));
    return new TextEncoder().encode(json);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PeruseError('out_of_memory', `There is no memory for the request: ${describe(error)}.`, { cause: error });
  }
}

/**
 * Replaces each lone surrogate by U+FFFD. One UTF-16 unit becomes one UTF-16 unit, so indices into the result are indices
 * into the caller's string; and the result has an exact UTF-8 form.
 */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
