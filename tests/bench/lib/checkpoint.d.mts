export function tensorsOf(config: Record<string, unknown>): { name: string; shape: number[] }[];
export function checkpointBytes(config: Record<string, unknown>): number;
export function checkpointChunks(config: Record<string, unknown>): Generator<Uint8Array>;
