export function shaders(): Map<string, string>;
export function watchShaders(device: GPUDevice): Set<string>;
