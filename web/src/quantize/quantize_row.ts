// The rule by which values become 8-bit integers: core/formats/quantize.h once more, to the bit.

/** Levels on each side of zero. */
export const kWeightLevels = 127;

/**
 * Fills `out`, as long as `values`, with integers in [-127, 127]; returns the scale, a float32: value ~ integer * scale.
 * A row with NaN or infinity becomes zeros with the scale NaN; one too small to have an inverse becomes zeros with scale 0.
 */
export function quantizeRow(values: Float32Array, out: Int8Array): number {
  let largest = 0;
  let finite = true;
  for (let i = 0; i < values.length; ++i) {
    const size = Math.abs(values[i]!);
    if (size > largest) largest = size;
    if (!(size < Infinity)) finite = false;
  }
  out.fill(0);
  if (!finite) return NaN;
  const inverse = Math.fround(kWeightLevels / largest);
  if (!Number.isFinite(inverse)) return 0;
  for (let i = 0; i < values.length; ++i) out[i] = roundHalfEven(Math.fround(values[i]! * inverse));
  return Math.fround(largest / kWeightLevels);
}

/** To the nearest integer, ties to even. 1.5 * 2^52 leaves a double no room for a fraction. */
function roundHalfEven(value: number): number {
  return value + 6755399441055744 - 6755399441055744;
}
