export function outputErrors(actual: number[], expected: number[]): { largest: number; rms: number };
