// Entry of web/bundle/peruse.js: the public API in browsers. Sets the runtime itself, because bundlers drop side effects of intermediate modules.
import { filesFolder } from './engine/files_browser.js';
import { chooseThreads } from './engine/variant.js';
import { env, envNotices, mostThreads } from './env.js';
import {
  asArgumentError,
  capital,
  checkSignal,
  describeError,
  fromSentError,
  onAbort,
  PeruseError,
  show,
  throwIfAborted,
  toPeruseError,
  toPlainError,
  toSentError,
  unlessAborted,
} from './errors.js';
import { Listener } from './listener.js';
import { checkOptions, kSourceOptions, option } from './options.js';
import { pipeline } from './pipeline.js';
import { provideTraining } from './pipeline_members.js';
import { runtime, setRuntime } from './platform/current.js';
import { pageRuntime } from './platform/platform_browser.js';
import { startHost } from './resident_models.js';
import { sendable } from './sources/sendable.js';
import { resolveSource } from './sources/source.js';
import { definitionOf, engineTask, kClassification, kEmbedding, kTaskNames } from './tasks/tasks.js';
import { packBits } from './tasks/vectors.js';
import { Remote } from './worker/remote_host.js';
import { startBrowserWorker, workerScript } from './worker/start_worker_browser.js';

setRuntime(pageRuntime);

export * from './face.js';

/** What peruse-teach.js and peruse-transformers.js share with this script (tools/bundle.mjs): one copy of settings, errors and classes. */
export const _internals = {
  asArgumentError,
  capital,
  checkOptions,
  checkSignal,
  chooseThreads,
  definitionOf,
  describeError,
  engineTask,
  env,
  envNotices,
  filesFolder,
  fromSentError,
  kClassification,
  kEmbedding,
  kSourceOptions,
  kTaskNames,
  Listener,
  mostThreads,
  onAbort,
  option,
  packBits,
  PeruseError,
  pipeline,
  provideTraining,
  Remote,
  resolveSource,
  runtime,
  sendable,
  show,
  startBrowserWorker,
  startHost,
  throwIfAborted,
  toPeruseError,
  toPlainError,
  toSentError,
  unlessAborted,
  workerScript,
};
