// What the page says about a loaded model and a call: where it runs, why nowhere better, what it took.
import type { MemoryReport, PipelineInfo, UsageReport } from '../peruse/peruse.js';
import { bytes, count, duration } from './format.js';

const kPrecisions: Record<PipelineInfo['dtype'], string> = { fp32: '32-bit', fp16: '16-bit', q8: '8-bit' };

/** The build in words: what it uses of the processor. */
function buildInWords(variant: string): string {
  return variant.startsWith('relaxed') ? 'WebAssembly with relaxed SIMD' : 'WebAssembly with SIMD';
}

/** What was chosen, and why. */
export function describeRuntime(info: PipelineInfo): string {
  const place = info.device === 'webgpu' ? 'the GPU' : `${count(info.threads, 'thread')} of the CPU, by ${buildInWords(info.variant)}`;
  return (
    `${bytes(info.bytes)}, loaded in ${duration(info.milliseconds)}; computes with ${kPrecisions[info.dtype]} weights on ${place}. ` +
    `Why: ${info.reason}`
  );
}

/** What the calls between two reports took. */
export function describeCall(before: UsageReport, after: UsageReport, { heapBytes }: MemoryReport): string {
  const milliseconds = after.milliseconds - before.milliseconds;
  const tokens = after.tokens - before.tokens;
  const rate = count((1000 * tokens) / Math.max(milliseconds, 0.1), 'token');
  return [duration(milliseconds), count(tokens, 'token'), `${rate}/s`, `${bytes(heapBytes)} of memory`].join(' \u00b7 ');
}
