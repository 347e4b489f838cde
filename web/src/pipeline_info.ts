// Describes a loaded model: as data (`info`) and in sentences (`--debug` of the command line).

import type { GpuReport, ProbeReport } from './engine/load_request.js';
import type { LoadReport } from './engine/models/load.js';
import type { Variant, VariantChoice } from './engine/variant.js';
import { envNotices } from './env.js';
import { type Dtype, dtypeOf } from './precisions.js';
import type { StartedHost } from './resident_models.js';
import type { Task } from './tasks/tasks.js';

/** What was loaded, where it runs, and the reason for each choice. */
export interface ModelInfo {
  /** The model, as the caller named it. */
  model: string;
  /** The build of the CPU; with a GPU 'simd'. */
  variant: Variant;
  /** Number of computing CPU threads; with a GPU 1. */
  threads: number;
  /** Reason for this device, build and number of threads. */
  reason: string;
  device: 'cpu' | 'webgpu';
  dtype: Dtype;
  gpu?: GpuReport;
  /** Times by which `device: 'auto'` chose. */
  probe?: ProbeReport;
  worker: boolean;
  /** Whether it uses weights that were in memory before. */
  shared: boolean;
  bytes: number;
  /** Time of the whole load, in milliseconds. */
  milliseconds: number;
  /** The file with the weights (or the index of several), found heads and unused tensors. */
  weights: { file: string } & Omit<LoadReport['weights'], 'dtype'>;
  /** Warnings that did not stop the load, for example that files could not be cached. */
  notices: readonly string[];
}

/** The model and the task of a pipeline. */
export interface PipelineInfo extends ModelInfo {
  task: Task;
}

export function describeLoad(
  model: string,
  choice: VariantChoice,
  loaded: LoadReport,
  { inWorker, trouble }: StartedHost,
  milliseconds: number,
): ModelInfo {
  const { device, reason, gpu, probe } = loaded.deviceChoice;
  const onGpu = device === 'webgpu';
  const { dtype, ...weights } = loaded.weights;
  return {
    model,
    variant: onGpu ? 'simd' : choice.variant,
    threads: onGpu ? 1 : loaded.threads,
    reason: onGpu ? (reason ?? '') : [reason, choice.reason, threadNote(choice, loaded)].filter(Boolean).join(' '),
    device,
    dtype: dtypeOf(dtype),
    ...(gpu && { gpu }),
    ...(probe && { probe }),
    worker: inWorker,
    shared: loaded.shared,
    bytes: loaded.bytes,
    milliseconds,
    weights: { file: loaded.file, ...weights },
    notices: [...(trouble === undefined ? [] : [trouble]), ...loaded.notices, ...envNotices()],
  };
}

function threadNote(choice: VariantChoice, { threads }: LoadReport): string {
  if (threads >= choice.threads) return '';
  return `More than ${count(threads, 'thread')} did not help here (measured).`;
}

export function loadNotes(
  { model, variant, threads, reason, device, dtype, weights, notices }: ModelInfo,
  task = 'its own task',
): string[] {
  const { architecture, tensors, headTensors, extraTensors } = weights;
  const where = device === 'webgpu' ? 'the GPU' : `the CPU, build ${variant}, ${count(threads, 'thread')}`;
  const head = headTensors.length > 0 ? `its head is made of ${someOf(headTensors)}` : 'the task has no head';
  return [
    `${model} computes on ${where}, weights as ${dtype}. ${reason}`.trim(),
    `${architecture} for ${task}: ${count(tensors, 'tensor')} in use; ${head}.`,
    extraTensors.length === 0
      ? 'All tensors of the checkpoint are used.'
      : `${count(extraTensors.length, 'tensor')} of the checkpoint unused: ${someOf(extraTensors)}.`,
    ...notices,
  ];
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

const kNamesInSentence = 5;

function someOf(names: readonly string[]): string {
  const more = names.length - kNamesInSentence;
  return more > 0 ? `${names.slice(0, kNamesInSentence).join(', ')} and ${more} more` : names.join(', ');
}
