export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median of a[i] / b[i]: both were measured in the same round, so other programs affect both. */
export function medianRatio(a, b) {
  return median(ratios(a, b));
}

export function ratioQuartiles(a, b) {
  const sorted = ratios(a, b).sort((x, y) => x - y);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  return [at(0.25), at(0.75)];
}

function ratios(a, b) {
  return Array.from({ length: Math.min(a.length, b.length) }, (_, i) => a[i] / b[i]);
}
