#!/usr/bin/env node
// Load, memory and time of one text, of large encoders in their published shapes with random float16 weights, in Node:
//   node tests/bench/encoder_shapes.mjs [--shapes privacy-filter,...] [--dtypes q8,q4] [--threads 1,2] [--rounds 5] [--tokens 128] [--written]
// With --written, loads the copies that `peruse quantize` writes, and prints their size.
// Writes the weights once into the cache of benchmarks (0.4 to 2.8 GB for each shape). Prints, for each row: seconds of the load, WebAssembly
// memory after the load and after the texts, and the median time of a text; in brackets the processor time of the whole process, which hardly
// depends on what else the machine does. A text's time with two threads is at best half of its processor time.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../tools/setup/root.mjs';
import { pipeline } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { modelsDir } from './lib/prepare.mjs';
import { median } from './lib/statistics.mjs';

const kRms = { rms_norm_eps: 1e-6, max_position_embeddings: 2048, tie_word_embeddings: true };

const kDetails = [
  'account_number',
  'private_address',
  'private_date',
  'private_email',
  'private_person',
  'private_phone',
  'private_url',
  'secret',
];
const kLabels = ['O', ...kDetails.flatMap((detail) => ['B', 'I', 'E', 'S'].map((mark) => `${mark}-${detail}`))];

const kShapes = {
  'eurobert-210m': {
    tokenizer: 'llama3',
    config: {
      model_type: 'eurobert',
      architectures: ['EuroBertModel'],
      vocab_size: 128256,
      hidden_size: 768,
      intermediate_size: 3072,
      num_hidden_layers: 12,
      num_attention_heads: 12,
      num_key_value_heads: 12,
      head_dim: 64,
      rope_theta: 250000,
      ...kRms,
    },
  },
  'qwen3-embedding-0.6b': {
    tokenizer: 'qwen',
    headNorms: true,
    config: {
      model_type: 'qwen3',
      architectures: ['Qwen3Model'],
      vocab_size: 151669,
      hidden_size: 1024,
      intermediate_size: 3072,
      num_hidden_layers: 28,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      rope_theta: 1e6,
      ...kRms,
    },
  },
  'embeddinggemma-300m': {
    tokenizer: 'gemma',
    headNorms: true,
    outputNorms: true,
    config: {
      model_type: 'gemma3_text',
      architectures: ['Gemma3TextModel'],
      vocab_size: 262144,
      hidden_size: 768,
      intermediate_size: 1152,
      num_hidden_layers: 24,
      num_attention_heads: 3,
      num_key_value_heads: 1,
      head_dim: 256,
      query_pre_attn_scalar: 256,
      sliding_window: 512,
      use_bidirectional_attention: true,
      ...kRms,
    },
  },
  'privacy-filter': {
    tokenizer: 'o200k',
    task: 'token-classification',
    config: {
      model_type: 'openai_privacy_filter',
      architectures: ['OpenAIPrivacyFilterForTokenClassification'],
      vocab_size: 200064,
      hidden_size: 640,
      intermediate_size: 640,
      num_hidden_layers: 8,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      head_dim: 64,
      num_local_experts: 128,
      num_experts_per_tok: 4,
      id2label: Object.fromEntries(kLabels.entries()),
      sliding_window: 128,
      rope_parameters: {
        rope_type: 'yarn',
        rope_theta: 150000,
        factor: 32,
        original_max_position_embeddings: 4096,
        beta_fast: 32,
        beta_slow: 1,
        truncate: false,
      },
    },
  },
};

/** Names and shapes of a model's tensors. */
function* tensorsOf({ config: c, task, headNorms, outputNorms }) {
  const [hidden, wide, narrow] = [c.hidden_size, c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim];
  const prefix = task === undefined ? '' : 'model.';
  const biased = task !== undefined;
  function* linear(name, out, inputs) {
    yield [`${name}.weight`, [out, inputs]];
    if (biased) yield [`${name}.bias`, [out]];
  }
  yield [`${prefix}embed_tokens.weight`, [c.vocab_size, hidden]];
  for (let i = 0; i < c.num_hidden_layers; ++i) {
    const layer = `${prefix}layers.${i}.`;
    const norms = ['input', 'post_attention', ...(outputNorms ? ['pre_feedforward', 'post_feedforward'] : [])];
    for (const norm of norms) yield [`${layer}${norm}_layernorm.weight`, [hidden]];
    yield* linear(`${layer}self_attn.q_proj`, wide, hidden);
    for (const name of ['k', 'v']) yield* linear(`${layer}self_attn.${name}_proj`, narrow, hidden);
    yield* linear(`${layer}self_attn.o_proj`, hidden, wide);
    if (headNorms) for (const name of ['q', 'k']) yield [`${layer}self_attn.${name}_norm.weight`, [c.head_dim]];
    const experts = c.num_local_experts;
    if (experts === undefined) {
      for (const name of ['gate', 'up']) yield [`${layer}mlp.${name}_proj.weight`, [c.intermediate_size, hidden]];
      yield [`${layer}mlp.down_proj.weight`, [hidden, c.intermediate_size]];
      continue;
    }
    yield [`${layer}self_attn.sinks`, [c.num_attention_heads]];
    yield* linear(`${layer}mlp.router`, experts, hidden);
    for (const [name, inputs, out] of [
      ['gate_up', hidden, 2 * c.intermediate_size],
      ['down', c.intermediate_size, hidden],
    ]) {
      yield [`${layer}mlp.experts.${name}_proj`, [experts, inputs, out]];
      yield [`${layer}mlp.experts.${name}_proj_bias`, [experts, out]];
    }
  }
  yield [`${prefix}norm.weight`, [hidden]];
  if (task !== undefined) yield* linear('score', 33, hidden);
}

const kBlock = 1 << 22; // elements
const elementsOf = (shape) => shape.reduce((product, size) => product * size, 1);

/** Float16 values of both signs from 1/64 to 1/32. */
function randomHalves() {
  let state = 1;
  return Uint16Array.from({ length: kBlock }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state & 1) << 15) | (9 << 10) | ((state >>> 8) & 0x3ff);
  });
}

async function folderOf(name) {
  const shape = kShapes[name];
  const folder = join(modelsDir, `shape-${name}`);
  const file = join(folder, 'model.safetensors');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(shape.config));
  writeFileSync(join(folder, 'tokenizer.json'), readFileSync(join(root, `tests/fixtures/tokenizer/${shape.tokenizer}.tokenizer.json`)));
  writeFileSync(
    join(folder, 'tokenizer_config.json'),
    JSON.stringify({ backend: 'tokenizers', tokenizer_class: 'PreTrainedTokenizerFast' }),
  );
  if (existsSync(file)) return folder;
  const [entries, halves, ones] = [{}, randomHalves(), new Uint16Array(kBlock).fill(0x3c00)];
  let offset = 0;
  const tensors = [...tensorsOf(shape)];
  for (const [tensor, dims] of tensors) {
    entries[tensor] = { dtype: 'F16', shape: dims, data_offsets: [offset, offset + 2 * elementsOf(dims)] };
    offset += 2 * elementsOf(dims);
  }
  const text = JSON.stringify(entries);
  const header = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const partial = await open(`${file}.partial`, 'w');
  await partial.writeFile(Buffer.concat([size, header]));
  for (const [tensor, dims] of tensors) {
    const block = tensor.includes('norm') ? ones : halves;
    for (let left = elementsOf(dims); left > 0; left -= kBlock)
      await partial.writeFile(new Uint8Array(block.buffer, 0, 2 * Math.min(left, kBlock)));
  }
  await partial.close();
  renameSync(`${file}.partial`, file);
  return folder;
}

async function writtenCopy(folder, dtype) {
  const copy = `${folder}-${dtype}`;
  if (existsSync(join(copy, 'config.json'))) return copy;
  const { result, ...time } = await measured(() => quantizeCheckpoint(folder, copy, { dtype, overwrite: true }));
  console.error(`${copy}: ${(result.bytesAfter / 1e6).toFixed(1)} MB of weights, written in ${shown(time)} s`);
  return copy;
}

/** Sees all memories of WebAssembly that this thread makes. */
const memories = [];
{
  const { instantiate, Instance, Memory } = WebAssembly;
  WebAssembly.Memory = class extends Memory {
    constructor(limits) {
      super(limits);
      memories.push(this);
    }
  };
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      for (const value of Object.values(this.exports)) if (value instanceof Memory) memories.push(value);
    }
  };
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    for (const value of Object.values((made.instance ?? made).exports)) if (value instanceof Memory) memories.push(value);
    return made;
  };
}
const megabytes = () => Math.round(Math.max(...memories.map(({ buffer }) => buffer.byteLength)) / 1e6);

async function measured(work) {
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { result, seconds: (performance.now() - begin) / 1000, busy: (user + system) / 1e6 };
}
const shown = ({ seconds, busy }) => `${seconds.toFixed(2)} (${busy.toFixed(2)})`;

async function textOf(tokenizer, tokens) {
  let seed = 1;
  const letter = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    return String.fromCharCode(97 + ((seed >>> 16) % 26));
  };
  const word = () => Array.from({ length: 3 + (seed & 3) }, letter).join('');
  let text = '';
  for (let i = 0; ; ++i) {
    const longer = `${text}${i > 0 ? ' ' : ''}${word()}`;
    if ((await tokenizer.encode(longer)).ids.length > tokens) return text;
    text = longer;
  }
}

const { values: flags } = parseArgs({
  options: {
    shapes: { type: 'string', default: Object.keys(kShapes).join() },
    dtypes: { type: 'string', default: 'q8,q4' },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '5' },
    tokens: { type: 'string', default: '128' },
    variant: { type: 'string' },
    written: { type: 'boolean', default: false },
  },
});
console.log('| shape | dtype | threads, build | load, s | MB loaded, after texts | tokens | a text, s |\n|---|---|---|---|---|---|---|');
for (const name of flags.shapes.split(',')) {
  const original = await folderOf(name);
  const { task = 'feature-extraction' } = kShapes[name];
  for (const dtype of flags.dtypes.split(',')) {
    const folder = flags.written ? await writtenCopy(original, dtype) : original;
    for (const threads of flags.threads.split(',').map(Number)) {
      memories.length = 0;
      const load = await measured(() =>
        pipeline(task, folder, { dtype, threads, worker: false, device: 'cpu', ...(flags.variant && { variant: flags.variant }) }),
      );
      const run = load.result;
      const loaded = megabytes();
      const text = await textOf(run.tokenizer, Number(flags.tokens));
      const { ids } = await run.tokenizer.encode(text);
      const call = () => run(text, task === 'feature-extraction' ? { pooling: 'mean' } : { aggregation_strategy: 'simple' });
      await call();
      const times = [];
      for (let i = 0; i < Number(flags.rounds); ++i) times.push(await measured(call));
      const usual = { seconds: median(times.map(({ seconds }) => seconds)), busy: median(times.map(({ busy }) => busy)) };
      console.log(
        `| ${name} | ${dtype} | ${run.info.threads}, ${run.info.variant} | ${shown(load)} | ${loaded}, ${megabytes()} | ${ids.length} | ${shown(usual)} |`,
      );
      await run.dispose();
    }
  }
}
