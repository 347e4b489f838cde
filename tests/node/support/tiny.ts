// The tiny checkpoints of tests/fixtures/tiny as whole models, for Node and browsers. Their tokenizer turns "t5 t17" into ids 5 and 17
// without special tokens, so the logits in the same folder are those of a text.

export type Files = Record<string, Uint8Array>;

export function tinyTokenizer(vocabSize: number): string {
  const vocab = Object.fromEntries(Array.from({ length: vocabSize }, (_, id) => [`t${id}`, id]));
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordPiece', unk_token: 't0', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
  });
}

export function tinyText(ids: ArrayLike<number>): string {
  return Array.from(ids, (id) => `t${id}`).join(' ');
}

export function tinyModel(config: Uint8Array, weights: Uint8Array): Files {
  const { vocab_size: vocabSize } = JSON.parse(new TextDecoder().decode(config)) as { vocab_size: number };
  const encode = (text: string) => new TextEncoder().encode(text);
  return {
    'config.json': config,
    'tokenizer.json': encode(tinyTokenizer(vocabSize)),
    'model.safetensors': weights,
  };
}

export function readTensors(file: Uint8Array): Map<string, Float32Array | Int32Array> {
  const { header, body } = splitSafetensors(file);
  const tensors = new Map<string, Float32Array | Int32Array>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const bytes = body.slice(...entry.data_offsets).buffer;
    tensors.set(name, entry.dtype === 'I32' ? new Int32Array(bytes) : new Float32Array(bytes));
  }
  return tensors;
}

export interface TensorEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

export function splitSafetensors(file: Uint8Array): { header: Record<string, TensorEntry>; body: Uint8Array } {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))) as Record<string, TensorEntry>;
  return { header, body: file.subarray(8 + length) };
}

export function joinSafetensors(header: object | string, body: Uint8Array): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + body.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  file.set(body, 8 + json.length);
  return file;
}
