// Shows the size and abilities of a named model before its weights are downloaded.
import { describe, type ModelDescription, type ModelDownload, type Source } from '../peruse/peruse.js';
import { make, makeButton } from './dom.js';
import { bytes } from './format.js';

export interface Chosen {
  readonly source: Source;
  readonly task: string;
  readonly dtype: ModelDownload['dtype'];
  readonly weights: ModelDownload['weights'];
}

const kMostMemory = 4e9; // Bytes that WebAssembly can address.
const kOwnShare = 0.5; // Share of the device's memory that a model may use; the rest is for browser and system.
const kMostOffered = 4;

const kTabs: Record<string, string> = {
  redact: 'Redact',
  'zero-shot-classification': 'Sort',
  'text-classification': 'Sort',
  'question-answering': 'Ask',
};

/** Whether a model of `memory` bytes fits. Only some browsers report the device's memory. */
export function fitsDevice(memory: number): boolean {
  const { deviceMemory } = navigator as { deviceMemory?: number };
  return memory < Math.min(kMostMemory, deviceMemory === undefined ? Infinity : kOwnShare * deviceMemory * 1e9);
}

/** Describes a model. `chosen` has its downloads that can do one of the tasks, each with the first such task. */
export async function lookUp(
  source: Source,
  tasks: readonly string[],
  signal: AbortSignal,
): Promise<{ found: ModelDescription; chosen: Chosen[] }> {
  const found = await describe(source, { signal });
  const chosen = found.downloads.flatMap(({ dtype, weights, tasks: possible }) => {
    const task = tasks.find((one) => (possible as readonly string[]).includes(one));
    return task === undefined ? [] : [{ source, task, dtype, weights }];
  });
  return { found, chosen };
}

/** Returns the description, with buttons for the smallest downloads. */
export function describeDownloads(
  { model_type: modelType, downloads, refused }: ModelDescription,
  chosen: readonly Chosen[],
  tasks: readonly string[],
  onUse: (chosen: Chosen) => void,
): Node[] {
  const tabs = [...new Set(downloads.flatMap((one) => one.tasks).flatMap((task) => kTabs[task] ?? []))];
  const can = tabs.length > 0 ? `for ${tabs.join(', ')}` : 'for none of these tabs';
  const head = make('p', '', `${modelType}, ${can}.`);
  const [task] = tasks;
  if (chosen.length === 0)
    return [
      head,
      make('p', '', Object.entries(refused).find(([name]) => name === task)?.[1]?.message ?? 'It does not do what this tab does.'),
    ];
  const costOf = ({ dtype, weights }: Chosen) => downloads.find((one) => one.dtype === dtype && one.weights === weights);
  const rows = [...chosen]
    .sort((a, b) => (costOf(a)?.bytes ?? 0) - (costOf(b)?.bytes ?? 0))
    .slice(0, kMostOffered)
    .map((one) => {
      const cost = costOf(one);
      const size = cost === undefined || cost.bytes === 0 ? 'size unknown' : bytes(cost.bytes);
      const stored = cost?.cached ? ', stored already' : '';
      const memory = cost?.memory ?? 0;
      const fit = fitsDevice(memory) ? 'fits this device' : 'too large for this device';
      const kind = one.weights === 'onnx' ? `${one.dtype}, ONNX` : one.dtype;
      return make(
        'li',
        '',
        makeButton([`Use it: ${size} (${kind})`], () => onUse(one)),
        ` ${bytes(memory)} of memory, ${fit}${stored}`,
      );
    });
  return [head, make('ul', 'downloads', ...rows)];
}
