import type { CallerRuntime } from '../worker/runtime.js';

let current: CallerRuntime | undefined;

/** What differs between platforms, in a thread that calls models. */
export function runtime(): CallerRuntime {
  if (current === undefined) throw new Error('The package was not imported by one of its entries.');
  return current;
}

/** Called once by each entry of the package. */
export function setRuntime(next: CallerRuntime): void {
  current = next;
}
