// Turns the options of pipeline() into a host and the request that loads the model there.
import type { DeviceChoice, ProbeMemory } from './engine/reports.js';
import { chooseVariant, type VariantChoice } from './engine/variant.js';
import { mostThreads } from './env.js';
import {
  type AnyPipelineOptions,
  checkDevice,
  checkDeviceLost,
  checkWorker,
  deviceWish,
  gpuVariant,
  keepsSource,
  labelNames,
} from './pipeline_options.js';
import { platform } from './platform/current.js';
import { engineFiles } from './platform/engine_folder.js';
import type { ProgressInfo } from './progress.js';
import { type HostLease, keyOfSource, leaseHost, startHost } from './sharing.js';
import { weightsWish } from './sources/onnx_files.js';
import { sendable } from './sources/sendable.js';
import { resolveSource, type Source, type SourceSpec } from './sources/source.js';
import { engineTask, type Task } from './tasks/tasks.js';

/** Results of the probe of `device: 'auto'`, kept for the session. */
const kProbes: ProbeMemory = {};

export function rememberProbe({ probe, probeKey }: DeviceChoice): void {
  if (probe && probeKey !== undefined) kProbes[probeKey] = probe;
}

type CheckedOptions = ReturnType<typeof checkOptions>;

export function checkOptions(options: AnyPipelineOptions) {
  const device = deviceWish(options);
  return {
    dtype: checkDevice(options),
    weights: weightsWish(options),
    device,
    onDeviceLost: checkDeviceLost(options),
    build: device === 'webgpu' ? gpuVariant(options) : options,
    wasm: engineFiles(options, platform().paths.baseUrl()),
    worker: checkWorker(options),
  };
}

/** Where the files of a load come from. */
interface Sources extends Awaited<ReturnType<typeof otherSources>> {
  source: SourceSpec;
  leading: SourceSpec | undefined;
}

export async function otherSources(options: AnyPipelineOptions) {
  const resolve = (other: Source | undefined) =>
    other === undefined ? undefined : resolveSource(other, { ...options, revision: undefined }, platform().paths);
  return {
    adapter: await resolve(options.adapter),
    encoder: await resolve(options.encoder),
    labelsEncoder: await resolve(options.labels_encoder),
  };
}

/** Starts a host for the load, or shares that of another task. */
export async function leaseFor(
  task: Task,
  { source, leading }: Sources,
  options: AnyPipelineOptions,
  checked: CheckedOptions,
  report: (progress: ProgressInfo) => void,
): Promise<ModelLease> {
  const { device, dtype, weights, onDeviceLost, wasm, worker, build } = checked;
  const wantsWorker = worker ?? (await platform().worksInWorker(source));
  const { variant, threads } = chooseVariant(platform().features(wantsWorker), build, mostThreads()); // rejects impossible requests before anything starts
  const key = sharingKey(options, leading ? undefined : source, [
    device,
    dtype,
    weights,
    onDeviceLost,
    wasm,
    wantsWorker,
    variant,
    threads,
  ]);
  const lease = await leaseHost(key, task, report, () => startHost(wantsWorker, worker, threads, report));
  return { ...lease, isShared: key !== undefined };
}

/** Returns the request to the host. Files that only this thread can read are served to a worker until `signal` fires. */
export async function loadRequest(
  task: Task,
  { source, leading, adapter = leading, encoder, labelsEncoder }: Sources,
  options: AnyPipelineOptions,
  { dtype, weights, device, onDeviceLost, build, wasm }: CheckedOptions,
  { inWorker, trouble, isShared }: ModelLease,
  signal: AbortSignal,
  notices: string[],
) {
  const choice = withTrouble(chooseVariant(platform().features(inWorker), build, mostThreads()), trouble);
  const notice = (sentence: string) => notices.push(sentence);
  const send = (one: SourceSpec) => (inWorker ? sendable(one, signal, { ...platform().files, notice }) : one);
  return {
    task: engineTask(task, options),
    dtype,
    weights,
    keepSource: keepsSource(options),
    id2label: options.id2label && labelNames(options.id2label),
    enhancedMaskDecoder: options.enhanced_mask_decoder,
    source: await send(source),
    adapter: adapter && (await send(adapter)),
    adapterLeads: leading !== undefined,
    encoder: encoder && (await send(encoder)),
    labelsEncoder: labelsEncoder && (await send(labelsEncoder)),
    choice,
    share: isShared,
    device,
    onDeviceLost,
    probes: { ...kProbes },
    wasm: wasm ?? (await platform().build?.(choice.variant)),
  };
}

/** A host, and whether another pipeline may share its engine. */
interface ModelLease extends HostLease {
  isShared: boolean;
}

/** A key of everything that pipelines must have in common to share an engine; undefined if the pipeline must not share. */
function sharingKey(
  { share = true, adapter, encoder, labels_encoder, id2label, enhanced_mask_decoder }: AnyPipelineOptions,
  spec: SourceSpec | undefined,
  settings: unknown[],
): string | undefined {
  const usesOthers = [adapter, encoder, labels_encoder, id2label].some((one) => one !== undefined);
  const alone = !share || usesOthers || enhanced_mask_decoder === true;
  const source = spec && keyOfSource(spec);
  // Compiled modules cannot be compared by their text, so pipelines with one do not share.
  if (alone || source === undefined || settings.some((one) => one instanceof WebAssembly.Module)) return undefined;
  return JSON.stringify([source, ...settings]);
}

function withTrouble(choice: VariantChoice, trouble: string | undefined): VariantChoice {
  return trouble === undefined ? choice : { ...choice, reason: `${choice.reason} ${trouble} So the model runs in the page's own thread.` };
}
