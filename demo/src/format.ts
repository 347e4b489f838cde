const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A probability in [0, 1] as "97.3 %". */
export function percent(probability: number): string {
  return `${tenth.format(100 * probability)}\u00a0%`;
}

/** The same as "97 %", where there is little room. */
export function shortPercent(probability: number): string {
  return `${whole.format(100 * probability)}\u00a0%`;
}

/** A count of bytes as "2.4 MB" (10^6 bytes), or in kB below a tenth of that. */
export function bytes(count: number): string {
  return count < 1e5 ? `${whole.format(count / 1e3)}\u00a0kB` : `${tenth.format(count / 1e6)}\u00a0MB`;
}

/** A duration as "8.4 ms", "120 ms" or "2.5 s". */
export function duration(milliseconds: number): string {
  if (milliseconds < 10) return `${tenth.format(milliseconds)}\u00a0ms`;
  if (milliseconds < 1000) return `${whole.format(milliseconds)}\u00a0ms`;
  return `${tenth.format(milliseconds / 1000)}\u00a0s`;
}

export function count(number: number, thing: string): string {
  return `${whole.format(number)} ${thing}${number === 1 ? '' : 's'}`;
}
