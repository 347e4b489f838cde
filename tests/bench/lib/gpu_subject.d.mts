export function measureShape(request: Record<string, unknown>): Promise<Record<string, unknown>[]>;
