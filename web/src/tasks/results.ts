// Results of the engine: JSON, and arrays of numbers, which are not converted to text.

/** Numbers with their dimensions. */
export interface NumberArray {
  dims: number[];
  /** Row by row: the last dimension varies fastest. */
  data: Float32Array;
}

/** A part of the result of one input. If an input has several parts, they are lists. */
export interface ResultPart {
  input: number;
  value: unknown;
}

export function joinParts(results: unknown[], parts: readonly ResultPart[]): void {
  for (const { input, value } of parts) {
    const before = results[input];
    if (!Array.isArray(before)) results[input] = value;
    else for (const item of value as unknown[]) before.push(item);
  }
}

/** An array in the engine's JSON (core/api/result_writer.h). Its numbers are in the engine's memory. */
interface EngineArray {
  array: number;
  dims: number[];
}

function isEngineArray(value: object): value is EngineArray {
  return 'array' in value && 'dims' in value;
}

/** Replaces each array by its numbers, which `floats(array, count)` copies. */
export function fillArrays<T>(value: T, floats: (array: number, count: number) => Float32Array): T {
  if (typeof value !== 'object' || value === null) return value;
  if (isEngineArray(value)) {
    const { array, dims } = value;
    const count = dims.reduce((product, dim) => product * dim, 1);
    return { dims, data: floats(array, count) } as T;
  }
  const members = value as Record<string, unknown>;
  for (const [key, member] of Object.entries(members)) {
    if (typeof member === 'object') members[key] = fillArrays(member, floats);
  }
  return value;
}

/** The buffers of all arrays in a result, which a worker transfers instead of copying. */
export function buffersOf(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value instanceof Float32Array || value instanceof Uint8Array) return [value.buffer as ArrayBuffer];
  if (value instanceof Map) return [...value.values()].flatMap(buffersOf);
  return Object.values(value).flatMap(buffersOf);
}
