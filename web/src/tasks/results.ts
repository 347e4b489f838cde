// What the engine gives back: parts of results, and arrays of numbers, which never travel as text.

/** Numbers with their dimensions. */
export interface NumberArray {
  dims: number[];
  /** Row by row: the last dimension varies fastest. */
  data: Float32Array;
}

/** A part of the result of one input. Where an input gets several parts, they are lists. */
export interface ResultPart {
  input: number;
  value: unknown;
}

/** Puts parts where they belong: the result of an input is its part, or its lists joined. */
export function joinParts(results: unknown[], parts: readonly ResultPart[]): void {
  for (const { input, value } of parts) {
    const before = results[input];
    if (!Array.isArray(before)) results[input] = value;
    else for (const item of value as unknown[]) before.push(item);
  }
}

/** An array in the engine's JSON (core/api/result_writer.h): its floats are in the engine's memory. */
interface EngineArray {
  array: number;
  dims: number[];
}

function isEngineArray(value: object): value is EngineArray {
  return 'array' in value && 'dims' in value;
}

/** The value with every array's floats in place, copied by `floats(array, count)`. */
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

/** The memory of all arrays in a result, which a worker hands over instead of copying. */
export function buffersOf(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value instanceof Float32Array || value instanceof Uint8Array) return [value.buffer as ArrayBuffer];
  if (value instanceof Map) return [...value.values()].flatMap(buffersOf);
  return Object.values(value).flatMap(buffersOf);
}
