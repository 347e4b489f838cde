import type { Inspection } from './inspection.js';

/** Restores infinity, which JSON represents as null. */
export function withInfinities(found: Inspection): Inspection {
  const concentrations: (number | null)[][] | undefined = found.diagonal_concentration;
  if (concentrations === undefined) return found;
  return { ...found, diagonal_concentration: concentrations.map((layer) => layer.map((value) => value ?? Infinity)) };
}
