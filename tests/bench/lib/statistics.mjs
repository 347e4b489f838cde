export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median of a[i] / b[i]: turns of one round go together, so that a busy machine slows both. */
export function medianRatio(a, b) {
  const pairs = Math.min(a.length, b.length);
  return median(Array.from({ length: pairs }, (_, i) => a[i] / b[i]));
}
