// Functions on numbers and tensors, with the names and results of transformers.js.
import { PeruseError, Tensor } from '../face.js';

/** The softmax of a list. */
export function softmax(numbers: ArrayLike<number>): number[] {
  const values = Array.from(numbers);
  const most = values.reduce((largest, value) => Math.max(largest, value), -Infinity); // a vocabulary has too many for arguments
  const powers = values.map((value) => Math.exp(value - most));
  const sum = powers.reduce((total, value) => total + value, 0);
  return powers.map((value) => value / sum);
}

/** Subtracts the mean of each row of [rows, numbers], and divides the row by its standard deviation plus `eps`. */
export function layer_norm(input: Tensor, normalized_shape: readonly number[], { eps = 1e-5 }: { eps?: number } = {}): Tensor {
  const [rows = 0, width = 0] = input.dims;
  if (input.dims.length !== 2 || normalized_shape.length !== 1 || normalized_shape[0] !== width) {
    throw new PeruseError(
      'invalid_argument',
      `layer_norm takes [rows, numbers] and [numbers], not [${input.dims}] and [${normalized_shape}].`,
    );
  }
  const data = new Float32Array(input.size);
  for (let row = 0; row < rows; ++row) {
    const own = input.data.subarray(row * width, (row + 1) * width);
    const mean = own.reduce((sum, value) => sum + value, 0) / width;
    const deviation = Math.sqrt(own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width);
    for (const [i, value] of own.entries()) data[row * width + i] = (value - mean) / (deviation + eps);
  }
  return new Tensor('float32', data, input.dims);
}

/** The product of two matrices. */
export async function matmul(a: Tensor, b: Tensor): Promise<Tensor> {
  const [rows = 0, inner = 0] = a.dims;
  const [height = 0, columns = 0] = b.dims;
  if (a.dims.length !== 2 || b.dims.length !== 2 || inner !== height) {
    throw new PeruseError('invalid_argument', `matmul takes [m, k] and [k, n], not [${a.dims}] and [${b.dims}].`);
  }
  const data = new Float32Array(rows * columns);
  for (let i = 0; i < data.length; ++i) {
    let sum = 0;
    for (let k = 0; k < inner; ++k) sum += a.data[Math.floor(i / columns) * inner + k]! * b.data[k * columns + (i % columns)]!;
    data[i] = sum;
  }
  return new Tensor('float32', data, [rows, columns]);
}

/** The logarithms of a list's softmax. */
export function log_softmax(numbers: ArrayLike<number>): number[] {
  return softmax(numbers).map((value) => Math.log(value));
}

/** A tensor of one value: 'float32' of a number, 'int64' of a bigint, 'bool' of a boolean. */
export function full(size: readonly number[], fill_value: number | bigint | boolean): Tensor {
  const count = size.reduce((all, one) => all * one, 1);
  const type = typeof fill_value === 'bigint' ? 'int64' : typeof fill_value === 'boolean' ? 'bool' : 'float32';
  const value = typeof fill_value === 'boolean' ? Number(fill_value) : fill_value;
  return new Tensor(type, Array<number | bigint>(count).fill(value), size) as Tensor;
}

/** A tensor of one value with the dimensions of another. */
export function full_like(tensor: Pick<Tensor, 'dims'>, fill_value: number | bigint | boolean): Tensor {
  return full(tensor.dims, fill_value);
}

/** A tensor of ones, 'int64'. */
export const ones = (size: readonly number[]): Tensor => full(size, 1n);
/** A tensor of ones with the dimensions of another, 'int64'. */
export const ones_like = (tensor: Pick<Tensor, 'dims'>): Tensor => full(tensor.dims, 1n);
/** A tensor of zeros, 'int64'. */
export const zeros = (size: readonly number[]): Tensor => full(size, 0n);
/** A tensor of zeros with the dimensions of another, 'int64'. */
export const zeros_like = (tensor: Pick<Tensor, 'dims'>): Tensor => full(tensor.dims, 0n);
