// Entry of peruse-gpu.js, the GPU's part for browsers. Any bundler can copy the file as it is: it imports and exports nothing.
import { startWithGpu } from './choose_device.js';
import { gpuScope, kGpuExchange } from './exchange.js';

gpuScope[kGpuExchange]!.startWithGpu = startWithGpu;
