// Which build of the engine to load: one pure function of what the machine has and what the caller wished.
import { PeruseError, show } from '../errors.js';

/** The builds of the engine: plain or relaxed SIMD, each with or without threads. Of each there are two modules, without and with the GPU's part. */
export type Variant = 'simd' | 'relaxed' | 'simd-threads' | 'relaxed-threads';

export const kVariants: readonly Variant[] = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];

/** What the machine has. */
export interface Features {
  wasm: boolean;
  simd: boolean;
  relaxedSimd: boolean;
  /** Why there is no relaxed SIMD, if it is not the machine. */
  whyPlain?: string;
  /** WebAssembly threads: shared memory and atomics are known to the engine. */
  threads: boolean;
  /** Memory can be shared with workers: a page that is cross-origin isolated, or Node. */
  sharedMemory: boolean;
  /** Where the engine will run may block (a worker, or Node): threads need that. */
  mayBlock: boolean;
  /** Logical processors. */
  processors: number;
}

/** What the caller asked for; 'auto' or nothing leaves the choice to `chooseVariant`. */
export interface VariantWish {
  /** The build of the engine. */
  variant?: Variant | 'auto';
  /** Threads to work with, 1 to 16. */
  threads?: number | 'auto';
}

export interface VariantChoice {
  variant: Variant;
  threads: number;
  /** The caller left the number of threads to us: fewer may be used where more do not help. */
  threadsAreFree?: boolean;
  /** One sentence: why this build, and why nothing better. */
  reason: string;
}

const kMostThreads = 16;
const kDefaultMostThreads = 4; // Beyond this small encoders gain little, and the page needs its cores too.

/** Picks the build. `mostThreads`: not more than so many, where the wish does not say. Throws 'no_wasm' where no build runs, 'unsupported' where the wish can't be met. */
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

/** Where plain SIMD is all there is: how many threads, and why. As chooseVariant. */
export function chooseThreads(features: Features, wish: VariantWish['threads'], mostThreads?: number): Omit<VariantChoice, 'variant'> {
  checkWasm(features);
  const { threads, reason } = countThreads(features, checkWish('auto', wish), mostThreads);
  return { threads, reason: `${reason}.` };
}

function checkWasm(features: Features): void {
  if (!features.wasm) throw new PeruseError('no_wasm', 'There is no WebAssembly here.');
  if (!features.simd) throw new PeruseError('no_wasm', 'WebAssembly has no SIMD here, and every build of Peruse needs it.');
}

function countThreads(features: Features, wished: VariantWish['threads'] = 'auto', most?: number): Omit<VariantChoice, 'variant'> {
  const noThreads = whyNoThreads(features);
  if (typeof wished === 'number' && wished > 1 && noThreads) {
    throw new PeruseError('unsupported', `${wished} threads were asked for, but ${noThreads}.`);
  }
  const threads = noThreads ? 1 : threadCount(features, wished, most);
  return { threads, reason: threadReason(threads, wished, noThreads, features, most) };
}

/** The threads asked for; as text (from an address, say) they are a number too. */
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
    throw new PeruseError('unsupported', `The variant '${variant}' was asked for, but ${whyPlain(features)}.`);
  }
  if (!variant.endsWith('-threads')) {
    if (typeof threads === 'number' && threads > 1) {
      throw new PeruseError('invalid_argument', `The variant '${variant}' has one thread, but ${threads} were asked for.`);
    }
    return { variant, threads: 1, reason: 'asked for by the caller.' };
  }
  if (noThreads) throw new PeruseError('unsupported', `The variant '${variant}' was asked for, but ${noThreads}.`);
  return { variant, threads: threadCount(features, threads ?? 'auto', mostThreads), reason: 'asked for by the caller.' };
}

function whyPlain(features: Features): string {
  return features.whyPlain ?? 'this engine has no relaxed SIMD';
}

function whyNoThreads(features: Features): string | undefined {
  if (!features.threads) return 'this engine has no WebAssembly threads';
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
  // Processors that share a core share its multipliers too, and nobody tells how many do: half are taken to be cores of their
  // own. Where there are but two, they seldom share one.
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
