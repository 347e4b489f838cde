import type { Platform } from './platform.js';

let current: Platform | undefined;

export function platform(): Platform {
  if (current === undefined) throw new Error('The package was not imported by one of its entries.');
  return current;
}

/** Called once by each entry of the package. */
export function setPlatform(next: Platform): void {
  current = next;
}
