// The tiny checkpoints of tests/fixtures/tiny as whole models: with a tokenizer that turns "t5 t17" into ids 5 and 17 and adds
// no special tokens, so the expected logits in the same folder are those of a text. Runs in Node and in browsers.

export type Files = Record<string, Uint8Array>;

/** A WordPiece tokenizer.json with the tokens t0, t1, ... and no special tokens around a text. */
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

/** The ids as the text that the tiny tokenizer reads them from. */
export function tinyText(ids: ArrayLike<number>): string {
  return Array.from(ids, (id) => `t${id}`).join(' ');
}

/** A checkpoint's folder, given what its files hold. */
export function tinyModel(config: Uint8Array, weights: Uint8Array): Files {
  const { vocab_size: vocabSize } = JSON.parse(new TextDecoder().decode(config)) as { vocab_size: number };
  const encode = (text: string) => new TextEncoder().encode(text);
  return {
    'config.json': config,
    'tokenizer.json': encode(tinyTokenizer(vocabSize)),
    'model.safetensors': weights,
  };
}

/** The tensors of a safetensors file, F32 and I32 only. */
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

/** A safetensors file of that header and body, however wrong. */
export function joinSafetensors(header: object | string, body: Uint8Array): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + body.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  file.set(body, 8 + json.length);
  return file;
}
