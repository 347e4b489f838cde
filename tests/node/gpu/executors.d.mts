export function executorsFor(device: GPUDevice, pipelines: unknown, code: { GpuExecutor: unknown }): object;
