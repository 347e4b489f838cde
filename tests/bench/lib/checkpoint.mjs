// Random checkpoints of a shape, generated in pieces and the same at every call, for Node and browsers.

const kDeviation = 0.02; // of the weights, as transformers initialises them

export function tensorsOf(config) {
  const makers = {
    bert: bertTensors,
    convbert: convBertTensors,
    modernbert: modernBertTensors,
    eurobert: decoderTensors,
    qwen3: decoderTensors,
    gemma3_text: decoderTensors,
  };
  return (makers[config.model_type] ?? debertaTensors)(config);
}

export function checkpointBytes(config) {
  const { header, bodyBytes } = layout(config);
  return header.length + bodyBytes;
}

export function* checkpointChunks(config) {
  const { header, tensors } = layout(config);
  yield header;
  const random = randomBits(1);
  for (const { name, elements } of tensors) {
    const [mean, deviation] = distribution(name, config);
    for (let done = 0; done < elements; done += kChunk) {
      const values = new Float32Array(Math.min(kChunk, elements - done));
      // Uniform with this standard deviation.
      for (let i = 0; i < values.length; ++i) values[i] = mean + deviation * Math.sqrt(3) * (random() / 2 ** 31 - 1);
      yield new Uint8Array(values.buffer);
    }
  }
}

const kChunk = 1 << 18; // elements

function distribution(name, config) {
  // Gemma adds 1 to them.
  if (/(LayerNorm|layernorm|norm)\.weight$/.test(name)) return [config.model_type === 'gemma3_text' ? 0 : 1, 0.1];
  if (/depthwise\.weight$/.test(name)) return [0, 0.2];
  return [0, kDeviation];
}

function randomBits(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Returns the bytes of each tensor of a safetensors file, by name. */
export function readTensors(file) {
  const headerBytes = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headerBytes)));
  const body = file.subarray(8 + headerBytes);
  return new Map(Object.entries(header).map(([name, { data_offsets: at }]) => [name, at && body.subarray(...at)]));
}

/** The chunks of a safetensors file of float32 tensors { name, shape, bytes }. */
export function* writeTensors(tensors) {
  yield layoutOf(tensors).header;
  for (const { bytes } of tensors) yield bytes;
}

const layout = (config) => layoutOf(tensorsOf(config));

function layoutOf(shapes) {
  let offset = 0;
  const entries = {};
  const tensors = shapes.map(({ name, shape }) => {
    const elements = shape.reduce((product, size) => product * size, 1);
    entries[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + 4 * elements] };
    offset += 4 * elements;
    return { name, elements };
  });
  const text = JSON.stringify({ __metadata__: { format: 'pt' }, ...entries });
  const padded = text + ' '.repeat((8 - (text.length % 8)) % 8);
  const header = new Uint8Array(8 + padded.length);
  new DataView(header.buffer).setBigUint64(0, BigInt(padded.length), true);
  header.set(new TextEncoder().encode(padded), 8);
  return { header, tensors, bodyBytes: offset };
}

const linear = (name, inputs, outputs) => [
  { name: `${name}.weight`, shape: [outputs, inputs] },
  { name: `${name}.bias`, shape: [outputs] },
];
const norm = (name, width) => [
  { name: `${name}.weight`, shape: [width] },
  { name: `${name}.bias`, shape: [width] },
];

function feedForward(layer, { hidden_size: hidden, intermediate_size: wide }) {
  return [
    ...linear(`${layer}.attention.output.dense`, hidden, hidden),
    ...norm(`${layer}.attention.output.LayerNorm`, hidden),
    ...linear(`${layer}.intermediate.dense`, hidden, wide),
    ...linear(`${layer}.output.dense`, wide, hidden),
    ...norm(`${layer}.output.LayerNorm`, hidden),
  ];
}

function convBertTensors(config) {
  const { hidden_size: hidden, embedding_size: width, conv_kernel_size: kernel } = config;
  const half = hidden / config.head_ratio;
  const heads = config.num_attention_heads / config.head_ratio;
  const tensors = [
    { name: 'convbert.embeddings.word_embeddings.weight', shape: [config.vocab_size, width] },
    { name: 'convbert.embeddings.position_embeddings.weight', shape: [config.max_position_embeddings, width] },
    { name: 'convbert.embeddings.token_type_embeddings.weight', shape: [config.type_vocab_size, width] },
    ...norm('convbert.embeddings.LayerNorm', width),
    ...(width === hidden ? [] : linear('convbert.embeddings_project', width, hidden)),
  ];
  for (let i = 0; i < config.num_hidden_layers; ++i) {
    const layer = `convbert.encoder.layer.${i}`;
    const self = `${layer}.attention.self`;
    for (const part of ['query', 'key', 'value', 'conv_out_layer']) tensors.push(...linear(`${self}.${part}`, hidden, half));
    tensors.push(
      { name: `${self}.key_conv_attn_layer.depthwise.weight`, shape: [hidden, 1, kernel] },
      { name: `${self}.key_conv_attn_layer.pointwise.weight`, shape: [half, hidden, 1] },
      { name: `${self}.key_conv_attn_layer.bias`, shape: [half, 1] },
      ...linear(`${self}.conv_kernel_layer`, half, heads * kernel),
      ...feedForward(layer, config),
    );
  }
  return [
    ...tensors,
    ...linear('qa_outputs', hidden, 2),
    ...linear('classifier.dense', hidden, hidden),
    ...linear('classifier.out_proj', hidden, 2),
  ];
}

/** ModernBERT and Ettin as published: no biases, and `classifier` in both heads. */
function modernBertTensors(config) {
  const { hidden_size: hidden, intermediate_size: wide } = config;
  const weight = (name, ...shape) => ({ name: `${name}.weight`, shape });
  const tensors = [weight('model.embeddings.tok_embeddings', config.vocab_size, hidden), weight('model.embeddings.norm', hidden)];
  for (let i = 0; i < config.num_hidden_layers; ++i) {
    const layer = `model.layers.${i}`;
    if (i > 0) tensors.push(weight(`${layer}.attn_norm`, hidden));
    tensors.push(
      weight(`${layer}.attn.Wqkv`, 3 * hidden, hidden),
      weight(`${layer}.attn.Wo`, hidden, hidden),
      weight(`${layer}.mlp_norm`, hidden),
      weight(`${layer}.mlp.Wi`, 2 * wide, hidden),
      weight(`${layer}.mlp.Wo`, hidden, wide),
    );
  }
  return [
    ...tensors,
    weight('model.final_norm', hidden),
    weight('head.dense', hidden, hidden),
    weight('head.norm', hidden),
    ...linear('classifier', hidden, 2),
  ];
}

/** EuroBERT, Qwen3 and Gemma 3: gated layers without biases, with the classifiers of their classes ForSequenceClassification. */
function decoderTensors(config) {
  const { hidden_size: hidden, intermediate_size: wide, head_dim: size, num_attention_heads: heads, num_key_value_heads: groups } = config;
  const weight = (name, ...shape) => ({ name: `${name}.weight`, shape });
  const gemma = config.model_type === 'gemma3_text';
  const norms = [
    'input_layernorm',
    'post_attention_layernorm',
    ...(gemma ? ['pre_feedforward_layernorm', 'post_feedforward_layernorm'] : []),
  ];
  const tensors = [weight('model.embed_tokens', config.vocab_size, hidden)];
  for (let i = 0; i < config.num_hidden_layers; ++i) {
    const layer = `model.layers.${i}`;
    const attention = `${layer}.self_attn`;
    tensors.push(
      ...norms.map((name) => weight(`${layer}.${name}`, hidden)),
      weight(`${attention}.q_proj`, heads * size, hidden),
      ...['k_proj', 'v_proj'].map((name) => weight(`${attention}.${name}`, groups * size, hidden)),
      weight(`${attention}.o_proj`, hidden, heads * size),
      ...(config.model_type === 'eurobert' ? [] : ['q_norm', 'k_norm'].map((name) => weight(`${attention}.${name}`, size))),
      ...['gate_proj', 'up_proj'].map((name) => weight(`${layer}.mlp.${name}`, wide, hidden)),
      weight(`${layer}.mlp.down_proj`, hidden, wide),
    );
  }
  tensors.push(weight('model.norm', hidden));
  if (config.model_type !== 'eurobert') return [...tensors, weight('score', 2, hidden)];
  return [...tensors, ...linear('dense', hidden, hidden), ...linear('classifier', hidden, 2)];
}

function bertTensors(config) {
  const { hidden_size: hidden } = config;
  const tensors = [
    { name: 'bert.embeddings.word_embeddings.weight', shape: [config.vocab_size, hidden] },
    { name: 'bert.embeddings.position_embeddings.weight', shape: [config.max_position_embeddings, hidden] },
    { name: 'bert.embeddings.token_type_embeddings.weight', shape: [config.type_vocab_size, hidden] },
    ...norm('bert.embeddings.LayerNorm', hidden),
  ];
  for (let i = 0; i < config.num_hidden_layers; ++i) {
    const layer = `bert.encoder.layer.${i}`;
    for (const part of ['query', 'key', 'value']) tensors.push(...linear(`${layer}.attention.self.${part}`, hidden, hidden));
    tensors.push(...feedForward(layer, config));
  }
  return [
    ...tensors,
    ...linear('qa_outputs', hidden, 2),
    ...linear('bert.pooler.dense', hidden, hidden),
    ...linear('classifier', hidden, 2),
  ];
}

function debertaTensors(config) {
  const { hidden_size: hidden } = config;
  const tensors = [
    { name: 'deberta.embeddings.word_embeddings.weight', shape: [config.vocab_size, hidden] },
    ...norm('deberta.embeddings.LayerNorm', hidden),
    { name: 'deberta.encoder.rel_embeddings.weight', shape: [2 * config.position_buckets, hidden] },
    ...norm('deberta.encoder.LayerNorm', hidden),
  ];
  for (let i = 0; i < config.num_hidden_layers; ++i) {
    const layer = `deberta.encoder.layer.${i}`;
    for (const part of ['query_proj', 'key_proj', 'value_proj']) {
      tensors.push(...linear(`${layer}.attention.self.${part}`, hidden, hidden));
    }
    tensors.push(...feedForward(layer, config));
  }
  return [...tensors, ...linear('qa_outputs', hidden, 2), ...linear('pooler.dense', hidden, hidden), ...linear('classifier', hidden, 2)];
}
