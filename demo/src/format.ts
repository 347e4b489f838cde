/** "12,345" or, with decimals, "12.3". Not by Intl.NumberFormat, whose creation holds a phone for 90 ms, before the page's script goes on. */
function fixed(value: number, decimals: number): string {
  return value.toFixed(decimals).replace(/\d(?=(?:\d{3})+(?!\d))(?<!\..*)/g, '$&,');
}

const whole = (value: number) => fixed(value, 0);
const tenth = (value: number) => fixed(value, 1);

/** A probability in [0, 1] as "97.3 %". */
export function percent(probability: number): string {
  return `${tenth(100 * probability)}\u00a0%`;
}

/** The same as "97 %", where there is little room. */
export function shortPercent(probability: number): string {
  return `${whole(100 * probability)}\u00a0%`;
}

/** A count of bytes as "2.4 MB" (10^6 bytes), or in kB below a tenth of that. */
export function bytes(count: number): string {
  return count < 1e5 ? `${whole(count / 1e3)}\u00a0kB` : `${tenth(count / 1e6)}\u00a0MB`;
}

/** A duration as "8.4 ms", "120 ms" or "2.5 s". */
export function duration(milliseconds: number): string {
  if (milliseconds < 10) return `${tenth(milliseconds)}\u00a0ms`;
  if (milliseconds < 1000) return `${whole(milliseconds)}\u00a0ms`;
  return `${tenth(milliseconds / 1000)}\u00a0s`;
}

export function count(number: number, thing: string): string {
  return `${whole(number)} ${thing}${number === 1 ? '' : 's'}`;
}
