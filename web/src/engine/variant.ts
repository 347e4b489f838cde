// Chooses the engine's build from the machine's features and the caller's request.
import { PeruseError, show } from '../errors.js';

/** The builds for the CPU: plain or relaxed SIMD, with or without threads. */
export type Variant = 'simd' | 'relaxed' | 'simd-threads' | 'relaxed-threads';

export const kVariants: readonly Variant[] = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];

export interface Features {
  wasm: boolean;
  simd: boolean;
  relaxedSimd: boolean;
  /** Why relaxed SIMD is not used, although the machine seems to support it. */
  whyPlain?: string;
  /** Why threads can't be started, although the machine supports them. */
  whyNoThreads?: string;
  /** WebAssembly supports shared memory and atomics. */
  threads: boolean;
  /** Memory can be shared with workers: a cross-origin isolated page, or Node. */
  sharedMemory: boolean;
  /** This thread may block (a worker, or Node), which threads require. */
  mayBlock: boolean;
  processors: number;
}

/** The requested build and threads; 'auto' and undefined leave the choice to Peruse. */
export interface VariantWish {
  /** The build of the engine. Default 'auto'. */
  variant?: Variant | 'auto';
  /** Number of threads, 1 to 16. Default 'auto'. */
  threads?: number | 'auto';
}

export interface VariantChoice {
  variant: Variant;
  threads: number;
  /** The number of threads may be reduced, if more threads do not help. */
  threadsAreFree?: boolean;
  /** Why this build was chosen and not a faster one, in one sentence. */
  reason: string;
}

const kMostThreads = 16;
const kDefaultMostThreads = 4; // more threads gain little for small encoders, and the page needs processors, too

/** Chooses the build. `mostThreads` limits the default number of threads. Throws 'no_wasm' or, for an impossible request, 'unsupported'. */
export function chooseVariant(features: Features, wish: VariantWish = {}, mostThreads?: number): VariantChoice {
  checkWasm(features);
  const wanted = wish.variant ?? 'auto';
  const threadsWished = checkWish(wanted, wish.threads);
  if (wanted !== 'auto') return chosenByCaller(wanted, features, { threads: threadsWished, mostThreads }, whyNoThreads(features));

  const { threads, reason } = countThreads(features, threadsWished, mostThreads);
  const base = features.relaxedSimd ? 'relaxed' : 'simd';
  const simdReason = features.relaxedSimd ? 'relaxed SIMD' : `plain SIMD, because ${whyPlain(features)}`;
  const free = threads > 1 && typeof threadsWished !== 'number' ? { threadsAreFree: true } : {};
  return { variant: threads > 1 ? `${base}-threads` : base, threads, ...free, reason: `${simdReason}; ${reason}.` };
}

/** Chooses the number of threads for plain SIMD. Throws like chooseVariant. */
export function chooseThreads(features: Features, wish: VariantWish['threads'], mostThreads?: number): Omit<VariantChoice, 'variant'> {
  checkWasm(features);
  const { threads, reason } = countThreads(features, checkWish('auto', wish), mostThreads);
  return { threads, reason: `${reason}.` };
}

function checkWasm(features: Features): void {
  if (!features.wasm) throw new PeruseError('no_wasm', 'This browser or runtime has no WebAssembly.');
  if (!features.simd) throw new PeruseError('no_wasm', 'WebAssembly has no SIMD here, which every build of Peruse requires.');
}

function countThreads(features: Features, wished: VariantWish['threads'] = 'auto', most?: number): Omit<VariantChoice, 'variant'> {
  const noThreads = whyNoThreads(features);
  if (typeof wished === 'number' && wished > 1 && noThreads) {
    throw new PeruseError('unsupported', `${wished} threads were requested, but ${noThreads}.`);
  }
  const threads = noThreads ? 1 : threadCount(features, wished, most);
  return { threads, reason: threadReason(threads, wished, noThreads, features, most) };
}

function checkWish(variant: string, asked: number | 'auto' | undefined): number | 'auto' | undefined {
  const threads = typeof asked === 'string' && /^\d+$/.test(asked) ? Number(asked) : asked;
  if (variant !== 'auto' && !kVariants.includes(variant as Variant)) {
    throw new PeruseError('invalid_argument', `variant must be 'auto' or one of ${kVariants.join(', ')}, not ${show(variant)}.`);
  }
  if (threads === undefined || threads === 'auto') return threads;
  if (!Number.isInteger(threads) || threads < 1 || threads > kMostThreads) {
    throw new PeruseError('invalid_argument', `threads must be 'auto' or a whole number from 1 to ${kMostThreads}, not ${show(threads)}.`);
  }
  return threads;
}

function chosenByCaller(
  variant: Variant,
  features: Features,
  { threads, mostThreads }: { threads: VariantWish['threads']; mostThreads: number | undefined },
  noThreads: string | undefined,
): VariantChoice {
  if (variant.startsWith('relaxed') && !features.relaxedSimd) {
    throw new PeruseError('unsupported', `The variant '${variant}' was requested, but ${whyPlain(features)}.`);
  }
  if (!variant.endsWith('-threads')) {
    if (typeof threads === 'number' && threads > 1) {
      throw new PeruseError('invalid_argument', `The variant '${variant}' has one thread, but ${threads} were requested.`);
    }
    return { variant, threads: 1, reason: 'asked for by the caller.' };
  }
  if (noThreads) throw new PeruseError('unsupported', `The variant '${variant}' was requested, but ${noThreads}.`);
  return { variant, threads: threadCount(features, threads ?? 'auto', mostThreads), reason: 'asked for by the caller.' };
}

function whyPlain(features: Features): string {
  return features.whyPlain ?? 'this engine has no relaxed SIMD';
}

function whyNoThreads(features: Features): string | undefined {
  if (!features.threads) return 'this engine has no WebAssembly threads';
  if (features.whyNoThreads !== undefined) return features.whyNoThreads;
  if (!features.sharedMemory) {
    return (
      'the page is not cross-origin isolated (serve it with "Cross-Origin-Opener-Policy: same-origin" and ' +
      '"Cross-Origin-Embedder-Policy: require-corp")'
    );
  }
  if (!features.mayBlock) return 'the main thread of a page may not wait for other threads (use the worker)';
  return undefined;
}

function threadCount(features: Features, threads: number | 'auto', most: number | undefined): number {
  if (threads !== 'auto') return threads;
  if (most !== undefined) return Math.min(most, features.processors);
  // Processors of one core share its multipliers. Machines do not report that, so half of more than two processors count as cores.
  const cores = features.processors <= 2 ? features.processors : Math.ceil(features.processors / 2);
  return Math.max(1, Math.min(kDefaultMostThreads, cores));
}

function threadReason(
  threads: number,
  wished: number | 'auto',
  noThreads: string | undefined,
  features: Features,
  most: number | undefined,
): string {
  if (noThreads) return `one thread, because ${noThreads}`;
  if (wished !== 'auto') return `${threads} thread${threads > 1 ? 's' : ''}, as asked for`;
  const limit = most === undefined ? '' : `, at most ${most} by env.threads`;
  return `${threads} thread${threads > 1 ? 's' : ''} for ${features.processors} processor${features.processors > 1 ? 's' : ''}${limit}`;
}

const kHeader = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

// (module (func (result v128) (i8x16.popcnt (i8x16.splat (i32.const 0)))))
const kSimd = [...kHeader, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, 10, 1, 8, 0, 0x41, 0, 0xfd, 15, 0xfd, 98, 11];

// (module (func (result v128) (i8x16.relaxed_swizzle (i8x16.splat (i32.const 1)) (i8x16.splat (i32.const 2)))))
const kRelaxedSimd = [
  ...kHeader,
  1,
  5,
  1,
  0x60,
  0,
  1,
  0x7b,
  3,
  2,
  1,
  0,
  10,
  15,
  1,
  13,
  0,
  0x41,
  1,
  0xfd,
  15,
  0x41,
  2,
  0xfd,
  15,
  0xfd,
  0x80,
  2,
  11,
];

// (module (memory 1 1 shared) (func (drop (i32.atomic.load (i32.const 0)))))
const kThreads = [...kHeader, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 11, 1, 9, 0, 0x41, 0, 0xfe, 16, 2, 0, 0x1a, 11];

function validates(bytes: number[]): boolean {
  return WebAssembly.validate(new Uint8Array(bytes));
}

export function detectFeatures(environment: { inWorker: boolean; processors: number; sharedMemory: boolean }): Features {
  const wasm = typeof WebAssembly === 'object' && typeof WebAssembly.validate === 'function';
  return {
    wasm,
    simd: wasm && validates(kSimd),
    relaxedSimd: wasm && validates(kRelaxedSimd),
    threads: wasm && validates(kThreads),
    sharedMemory: environment.sharedMemory && typeof SharedArrayBuffer === 'function',
    mayBlock: environment.inWorker,
    processors: Math.max(1, Math.floor(environment.processors) || 1),
  };
}
