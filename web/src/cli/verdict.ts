// Whether Peruse runs a checkpoint, and for which tasks: the engine itself says so, from config.json and the header alone.
import { PeruseError } from '../errors.js';
import { nodePlatform } from '../platform/platform_node.js';
import { kTasks, type Task } from '../tasks/tasks.js';
import { chooseVariant } from '../engine/variant.js';
import { startCpuEngine } from '../engine/wasm_modules.js';
import type { Checkpoint } from './checkpoint.js';

export interface Verdict {
  task: Task;
  /** Why not; undefined: it runs. */
  refused?: { code: string; message: string };
}

/** A tokenizer that stands in for the checkpoint's, which is not read: the engine opens no model without one. */
const kStandIn = JSON.stringify({
  version: '1.0', truncation: null, padding: null, normalizer: null, decoder: null,
  added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'].map((content, id) => (
    { id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false }
  )),
  pre_tokenizer: { type: 'WhitespaceSplit' },
  post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
  model: {
    type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100,
    vocab: { '[PAD]': 0, '[UNK]': 1, '[CLS]': 2, '[SEP]': 3, '[MASK]': 4 },
  },
});

export async function verdicts(checkpoint: Checkpoint): Promise<Verdict[]> {
  const all: Verdict[] = [];
  for (const task of Object.keys(kTasks) as Task[]) all.push({ task, refused: await refusal(task, checkpoint) });
  return all;
}

/** The names of the labels; LABEL_0, LABEL_1, ... where config.json gives only their number. */
export function labelsOf({ config }: Checkpoint): string[] {
  const names = config['id2label'];
  if (typeof names === 'object' && names !== null) return Object.values(names).map(String);
  return Array.from({ length: Number(config['num_labels'] ?? 2) }, (_, index) => `LABEL_${index}`);
}

/** Two tasks use the head of text classification for labels of a certain kind; the engine sees that only in a call. */
function unfitLabels(task: Task, labels: string[]): Verdict['refused'] {
  if (task === 'text-ranking' && labels.length !== 1) {
    return { code: 'unsupported', message: `a model that ranks has one label, this one has ${labels.length}` };
  }
  if (task === 'zero-shot-classification' && !labels.some((label) => /^entail/i.test(label))) {
    return { code: 'unsupported', message: 'no label is called entailment: the model was not trained for natural language inference' };
  }
  return undefined;
}

async function refusal(task: Task, checkpoint: Checkpoint): Promise<Verdict['refused']> {
  const engine = await startCpuEngine(chooseVariant(nodePlatform.features(false), { threads: 1 }));
  try {
    engine.addFile('config.json', checkpoint.configBytes);
    engine.addFile('tokenizer.json', new TextEncoder().encode(kStandIn));
    await engine.open({ task, dtype: 'f32' });
    await engine.feedWeights(checkpoint.header);
    return unfitLabels(task, labelsOf(checkpoint));
  } catch (error) {
    if (!(error instanceof PeruseError)) throw error;
    return { code: error.code, message: error.message };
  } finally {
    engine.dispose();
  }
}
