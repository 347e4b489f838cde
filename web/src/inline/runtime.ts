// The runtime of engines in peruse/inline in browsers: the compiled engine arrives with the load request.
import { openOpfs } from '../cache/cache_opfs.js';
import { compileFetched } from '../engine/files_browser.js';
import { dropHelpers, startHelper } from '../engine/helper_browser.js';
import { describeModel } from '../engine/models/describe_model.js';
import type { EngineRuntime } from '../worker/runtime.js';

export const inlineEngines: EngineRuntime = {
  importGpu: noGpu,
  importDescribe: async () => ({ describeModel }),
  compile: (build, folder) => {
    const name = `peruse-${build}.wasm`;
    const own = () => {
      throw new Error(`'peruse/inline' holds no '${build}'`);
    };
    return compileFetched(name, own, folder);
  },
  startHelper,
  dropHelpers,
  openOpfs,
};

export async function noGpu(): Promise<never> {
  throw new Error("it is not in 'peruse/inline': import from 'peruse'.");
}
