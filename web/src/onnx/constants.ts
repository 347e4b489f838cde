// Finds the constant from which an operand is computed by casts, transposes or dequantisation.
import type { Graph, Node } from './graph.js';
import { isFloat, kTypes, sizeOf, type Tensor } from './tensor.js';

export interface Stored {
  /** The values, or their integer codes. */
  tensor: Tensor;
  /** Shape of the parameter, or of its transpose if `transposed`. */
  shape: number[];
  transposed: boolean;
  coding: Coding;
}

/** How a tensor's codes become values. */
export type Coding =
  | { kind: 'floats' }
  /** value = (code - zero) * scale. Scale and zero are one number, or one for each index of `axis` of the stored shape. */
  | { kind: 'integers'; scale: Tensor; zero?: Tensor; axis: number }
  /** value = (code - zero) * scale, with a scale for each `block` codes of a row, or of a column. `zero` contains codes or floats. */
  | { kind: 'blocks'; scale: Tensor; zero?: Tensor; bits: number; block: number; missingZero: number; ofColumns?: boolean }
  /** value = entry of a table of 16 values * scale, with a scale for each `block` codes. */
  | { kind: 'bnb4'; scale: Tensor; block: number; table: 'fp4' | 'nf4' };

/** Bits of a code, by the type of its tensor. */
const kCodeBits = new Map<number, number>([
  [kTypes.I8, 8],
  [kTypes.U8, 8],
  [kTypes.I4, 4],
  [kTypes.U4, 4],
]);

const kFloats: Coding = { kind: 'floats' };
const kMostSteps = 16;
const kPassing = new Set(['Identity', 'Cast', 'Squeeze', 'Unsqueeze', 'Reshape']);

export class Constants {
  readonly producers = new Map<string, Node>();
  readonly consumers = new Map<string, Node[]>();

  constructor(readonly graph: Graph) {
    for (const node of graph.nodes) {
      for (const output of node.outputs) if (output !== '') this.producers.set(output, node);
      for (const input of new Set(node.inputs)) {
        const list = this.consumers.get(input);
        if (list) list.push(node);
        else this.consumers.set(input, [node]);
      }
    }
  }

  tensor(name: string | undefined): Tensor | undefined {
    return name === undefined || name === '' ? undefined : this.graph.tensors.get(name);
  }

  find(name: string | undefined): Stored | undefined {
    let transposed = false;
    for (let at = name, steps = 0; at !== undefined && at !== '' && steps < kMostSteps; ++steps) {
      const tensor = this.tensor(at);
      if (tensor) {
        const stored = this.stored(tensor);
        return stored && { ...stored, transposed };
      }
      const producer = this.producers.get(at);
      if (!producer) return undefined;
      if (producer.op === 'DequantizeLinear') {
        const stored = this.dequantized(producer);
        return stored && { ...stored, transposed };
      }
      if (producer.op === 'Transpose') {
        if (!isMatrixTranspose(producer)) return undefined;
        transposed = !transposed;
      } else if (!kPassing.has(producer.op)) {
        return undefined;
      }
      at = producer.inputs[0];
    }
    return undefined;
  }

  /** Returns floats, or integers whose scale has a matching name: X_quantized, X_scale, X_zero_point. */
  private stored(tensor: Tensor): Stored | undefined {
    if (isFloat(tensor)) return { tensor, shape: tensor.dims, transposed: false, coding: kFloats };
    return this.byName(tensor, tensor.dims.length - 1);
  }

  /** Finds scale and zero point by the names that onnxruntime's quantiser assigns. */
  byName(tensor: Tensor, axis: number): Stored | undefined {
    if ((tensor.type !== kTypes.I8 && tensor.type !== kTypes.U8) || !tensor.name.endsWith('_quantized')) return undefined;
    const base = tensor.name.slice(0, -'_quantized'.length);
    const scale = this.tensor(`${base}_scale`);
    return scale && integers(tensor, scale, this.tensor(`${base}_zero_point`), axis);
  }

  private dequantized(node: Node): Stored | undefined {
    const [codes, scale, zero] = node.inputs.map((input) => this.tensor(input));
    if (!codes || !scale || !isFloat(scale)) return undefined;
    const axis = node.numbers.get('axis')?.[0] ?? 1;
    const block = node.numbers.get('block_size')?.[0] ?? 0;
    if (block === 0) return codes.type === kTypes.I8 || codes.type === kTypes.U8 ? integers(codes, scale, zero, axis) : undefined;
    const bits = kCodeBits.get(codes.type);
    if (bits === undefined || codes.dims.length !== 2 || ![0, 1, -1, -2].includes(axis) || block < 1) return undefined;
    const [rows, width] = codes.dims as [number, number];
    const ofColumns = axis === 0 || axis === -2;
    const blocks = ofColumns ? Math.ceil(rows / block) * width : rows * Math.ceil(width / block);
    if (sizeOf(scale) !== blocks || (zero && (sizeOf(zero) !== blocks || zero.type !== codes.type))) return undefined;
    return {
      tensor: codes,
      shape: codes.dims,
      transposed: false,
      coding: { kind: 'blocks', scale, ...(zero && { zero }), bits, block, missingZero: 0, ofColumns },
    };
  }
}

/** Returns undefined unless there is one scale, or one for each index of the axis. */
export function integers(tensor: Tensor, scale: Tensor, zero: Tensor | undefined, axis: number): Stored | undefined {
  const rank = tensor.dims.length;
  const at = axis < 0 ? axis + rank : axis;
  const fits = (one: Tensor) => sizeOf(one) === 1 || sizeOf(one) === tensor.dims[at];
  if (!isFloat(scale) || !fits(scale) || (zero && (!fits(zero) || zero.type !== tensor.type))) return undefined;
  return { tensor, shape: tensor.dims, transposed: false, coding: { kind: 'integers', scale, ...(zero && { zero }), axis: at } };
}

function isMatrixTranspose(node: Node): boolean {
  const perm = node.numbers.get('perm');
  return perm === undefined || (perm.length === 2 && perm[0] === 1 && perm[1] === 0);
}
