// Entry of peruse-gpu.js, GPU support for browsers. It neither imports nor exports, so bundlers can copy the file unchanged.
import { startWithGpu } from './choose_device.js';
import { gpuScope, kGpuExchange } from './exchange.js';

gpuScope[kGpuExchange]!.startWithGpu = startWithGpu;
