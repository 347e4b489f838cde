// Arithmetic on vectors, with the names and results of transformers.js.
import { PeruseError } from '../errors.js';
import { Tensor } from '../tensor.js';
import type { NumberArray } from './results.js';

type Vector = ArrayLike<number>;

/** The dot product of two vectors. */
export function dot(a: Vector, b: Vector): number {
  checkLengths(a, b);
  let sum = 0;
  for (let i = 0; i < a.length; ++i) sum += a[i]! * b[i]!;
  return sum;
}

/** The cosine of the angle between two vectors, from -1 to 1. */
export function cos_sim(a: Vector, b: Vector): number {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/**
 * The late-interaction score of a document for a query (MaxSim): the sum over the query's rows of the largest dot product with a row of the
 * document. Both are matrices of `feature-extraction` with `pooling: 'multi_vector'`. Scores of queries with different numbers of rows are not
 * comparable; divide by `query.dims[0]` for models that were trained with the mean.
 */
export function max_sim(query: NumberArray, document: NumberArray): number {
  const [rows = 0, width = 0] = query.dims;
  const [others = 0, other = 0] = document.dims;
  if (width !== other || others === 0) {
    throw new PeruseError(
      'invalid_argument',
      `max_sim needs matrices with rows of the same length; these are [${query.dims.join(', ')}] and [${document.dims.join(', ')}].`,
    );
  }
  let sum = 0;
  for (let i = 0; i < rows; ++i) {
    const row = query.data.subarray(i * width, (i + 1) * width);
    let largest = Number.NEGATIVE_INFINITY;
    for (let j = 0; j < others; ++j) largest = Math.max(largest, dot(row, document.data.subarray(j * width, (j + 1) * width)));
    sum += largest;
  }
  return sum;
}

function checkLengths(a: Vector, b: Vector): void {
  if (a.length === b.length) return;
  throw new PeruseError('invalid_argument', `The vectors have ${a.length} and ${b.length} numbers; they must have the same length.`);
}

/**
 * The mean of the tokens' vectors: one vector for each text.
 *
 * @param last_hidden_state [texts, tokens, numbers], or [tokens, numbers] for one text.
 * @param attention_mask [texts, tokens], or [tokens]; tokens with 0 are excluded. Default: all tokens count.
 */
export function mean_pooling(
  last_hidden_state: NumberArray,
  attention_mask?: { dims: number[]; data: ArrayLike<number | bigint> },
): Tensor {
  const { dims, data } = last_hidden_state;
  const [texts, tokens, width] = (dims.length === 2 ? [1, ...dims] : dims) as [number, number, number];
  if (dims.length < 2 || dims.length > 3 || data.length !== texts * tokens * width) {
    throw new PeruseError(
      'invalid_argument',
      `mean_pooling needs [texts, tokens, numbers], not [${dims.join(', ')}] with ${data.length} numbers.`,
    );
  }
  const mask = attention_mask?.data;
  if (mask !== undefined && mask.length !== texts * tokens) {
    throw new PeruseError(
      'invalid_argument',
      `attention_mask has ${mask.length} numbers; ${texts} texts of ${tokens} tokens need ${texts * tokens}.`,
    );
  }
  const means = new Float32Array(texts * width);
  for (let text = 0; text < texts; ++text) {
    const sums = new Float64Array(width);
    let weight = 0;
    for (let token = text * tokens; token < (text + 1) * tokens; ++token) {
      const share = mask === undefined ? 1 : Number(mask[token]);
      weight += share;
      for (let i = 0; share !== 0 && i < width; ++i) sums[i]! += share * data[token * width + i]!;
    }
    for (let i = 0; i < width; ++i) means[text * width + i] = sums[i]! / Math.max(weight, 1e-9);
  }
  return new Tensor('float32', means, [texts, width]);
}

/** Eight numbers become one byte, the first number its highest bit, set for numbers above zero ('ubinary'); 'binary' subtracts 128. */
export type BinaryPrecision = 'binary' | 'ubinary';

/** Packs [rows, width] to [rows, width / 8], like `quantize_embeddings` of sentence-transformers. */
export function packBits({ dims, data }: NumberArray, precision: BinaryPrecision): Tensor<Int8Array | Uint8Array> {
  const [rows = 0, width = 0] = dims;
  if (dims.length !== 2 || width % 8 !== 0) {
    throw new PeruseError('invalid_argument', `quantize needs vectors whose length is a multiple of 8; these have ${width} numbers.`);
  }
  const bytes = new Uint8Array(data.length / 8);
  for (let i = 0; i < data.length; ++i) if (data[i]! > 0) bytes[i >> 3]! |= 0x80 >> (i & 7);
  const packed = [rows, width / 8];
  if (precision === 'ubinary') return new Tensor('uint8', bytes, packed);
  const signed = Int8Array.from(bytes, (byte) => byte - 128);
  return new Tensor('int8', signed, packed);
}
