// The public API in one file, for service workers, Cloudflare's workers and other hosts that can neither start workers nor import scripts later.

import { openOpfs } from './cache/cache_opfs.js';
import { describeModel } from './engine/models/describe_model.js';
import { detectFeatures } from './engine/variant.js';
import { PeruseError } from './errors.js';
import { describeBlank, describeCuts, explain, streamOf } from './extras.js';
import { openOnnx } from './onnx/onnx_weights.js';
import { setRuntime } from './platform/current.js';
import { webPaths } from './platform/paths.js';
import { kModelKit } from './redact/model_kit.js';
import { loadIndex, newIndex, saveIndex } from './search/kit.js';
import * as folderKit from './sources/folders/folder_kit.js';
import { pairTemplate } from './sources/on_demand/chat_template.js';
import { openRoute } from './sources/on_demand/routes.js';
import { openStatic } from './sources/on_demand/static_embeddings.js';
import { LocalHost } from './worker/local_host.js';
import type { CallerRuntime, EngineRuntime } from './worker/runtime.js';
import { browserEngines, kOwnFiles } from './worker/runtime_browser.js';

const kEngines: EngineRuntime = {
  ...browserEngines(kOwnFiles),
  kit: async () => folderKit,
  importDescribe: async () => ({ describeModel }),
  importOnnx: async () => ({ openOnnx, openRoute, openStatic, pairTemplate }),
  openOpfs,
};

const kRuntime: CallerRuntime = {
  ...kEngines,
  startsWorkers: () => false,
  features: () => detectFeatures({ inWorker: false, processors: 1, sharedMemory: false }),
  startWorker: () => Promise.reject(new PeruseError('worker_died', 'This environment cannot start workers.')),
  startHere: async (report) => new LocalHost(report, kEngines),
  redaction: async () => kModelKit,
  search: async () => ({ loadIndex, newIndex, saveIndex }),
  extras: async () => ({ describeBlank, describeCuts, explain, streamOf }),
  paths: webPaths,
};

setRuntime(kRuntime);

export * from './face.js';
