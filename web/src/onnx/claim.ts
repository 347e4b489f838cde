// Where a file stores its parameters.
import type { ConfigChanges } from '../sources/onnx_part.js';
import type { Stored } from './constants.js';
import type { Tensor } from './tensor.js';

export interface Claim extends Stored {
  /** The columns of the stored matrix that belong to the parameter; undefined means all. */
  columns?: { first: number; count: number };
  /** Whether the parameter's shape is [n, 1]. */
  asColumn?: boolean;
  /** Whether the parameter is [rows, heads * size], stored as [heads, rows, size]. */
  byHeads?: boolean;
}

export interface Claims {
  parameters: Map<string, Claim>;
  copies: Copy[];
  /** Parameters that are zeros, because tools remove additions of zeros. */
  zeros: Map<string, number[]>;
  conflicts: string[];
  changes: ConfigChanges;
}

/** Two constants of the file for one parameter, which must have the same values. */
export interface Copy {
  name: string;
  first: Tensor;
  second: Tensor;
  /** Whether `second` is stored as the transpose of `first`. */
  turned: boolean;
}
