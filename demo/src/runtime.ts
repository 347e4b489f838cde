// Texts about a loaded model and a call: the device, why no faster one was used, and the duration.
import type { MemoryReport, PipelineInfo, UsageReport } from '../peruse/peruse.js';
import { bytes, count, duration } from './format.js';

const kPrecisions: Record<PipelineInfo['dtype'], string> = { fp32: '32-bit', fp16: '16-bit', q8: '8-bit', q4: '4-bit and 8-bit' };

function buildInWords(variant: string): string {
  return variant.startsWith('relaxed') ? 'WebAssembly with relaxed SIMD' : 'WebAssembly with SIMD';
}

export function describeRuntime(info: PipelineInfo): string {
  const place = info.device === 'webgpu' ? 'the GPU' : `${count(info.threads, 'thread')} of the CPU, by ${buildInWords(info.variant)}`;
  return (
    `${bytes(info.bytes)}, loaded in ${duration(info.milliseconds)}; computes with ${kPrecisions[info.dtype]} weights on ${place}. ` +
    `Why: ${info.reason}`
  );
}

export function describeCall(before: UsageReport, after: UsageReport, { heapBytes }: MemoryReport): string {
  const milliseconds = after.milliseconds - before.milliseconds;
  const tokens = after.tokens - before.tokens;
  const rate = count((1000 * tokens) / Math.max(milliseconds, 0.1), 'token');
  return [duration(milliseconds), count(tokens, 'token'), `${rate}/s`, `${bytes(heapBytes)} of memory`].join(' \u00b7 ');
}
