export function swiftShaderEnvironment(): Record<string, string>;
export function requestAdapter(): Promise<GPUAdapter | undefined>;
