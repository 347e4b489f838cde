// Compiles the pipelines of kernels.mjs on the machine's adapter. Prints marks around each on standard error, where the driver also prints.
import { writeSync } from 'node:fs';
import { requestAdapter } from '../../node/gpu/gpu_device.mjs';
import { kernels } from './kernels.mjs';

const adapter = await requestAdapter();
if (adapter === undefined) throw new Error('no adapter');
const device = await adapter.requestDevice({ requiredFeatures: ['subgroups'] });
for (const { name, code, constants } of kernels(adapter.info.vendor)) {
  writeSync(2, `\n@@@BEGIN ${name}\n`);
  device.pushErrorScope('validation');
  const start = performance.now();
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: 'auto', compute: { module, constants } });
  const error = await device.popErrorScope();
  if (error) throw new Error(`${name}: ${error.message}`);
  console.log(name, Math.round(performance.now() - start), 'ms');
  writeSync(2, '\n@@@END\n');
}
process.exit(0);
