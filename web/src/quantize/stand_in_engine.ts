// Checks in Node whether the engine runs a checkpoint, with config.json and tensor headers only.
import { startCpuEngine } from '../engine/builds.js';
import type { Engine } from '../engine/engine.js';
import { chooseVariant } from '../engine/variant.js';
import { nodeWasm } from '../engine/wasm_node.js';
import { nodePlatform } from '../platform/platform_node.js';
import { kLabelsTokenizer } from '../sources/model_files.js';
import { engineTask, type Task } from '../tasks/tasks.js';

/** A substitute for the checkpoint's tokenizer, without which the engine does not open a model. */
const kStandIn = JSON.stringify({
  version: '1.0',
  truncation: null,
  padding: null,
  normalizer: null,
  decoder: null,
  added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'].map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  })),
  pre_tokenizer: { type: 'WhitespaceSplit' },
  post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: { '[PAD]': 0, '[UNK]': 1, '[CLS]': 2, '[SEP]': 3, '[MASK]': 4 },
  },
});

export async function withModel<T>(task: Task, dtype: string, config: Uint8Array, use: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await startCpuEngine({ choice: chooseVariant(nodePlatform.features(false), { threads: 1 }), parts: nodeWasm });
  try {
    engine.addFile('config.json', config);
    for (const folder of ['', kLabelsTokenizer]) engine.addFile(`${folder}tokenizer.json`, new TextEncoder().encode(kStandIn));
    await engine.open({ task: engineTask(task), dtype });
    return await use(engine);
  } finally {
    engine.dispose();
  }
}
