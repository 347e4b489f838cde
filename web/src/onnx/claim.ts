// Where a file stores a parameter.
import type { Stored } from './constants.js';

export interface Claim extends Stored {
  /** The columns of the stored matrix that belong to the parameter; undefined means all. */
  columns?: { first: number; count: number };
  /** Whether the parameter's shape is [n, 1]. */
  asColumn?: boolean;
  /** Whether the parameter is [rows, heads * size], stored as [heads, rows, size]. */
  byHeads?: boolean;
}
