// peruse/inline: the package, its worker and its engine in one file, for browsers and Node.
import { inlineInBrowser, inlineInNode } from './inline/platform.js';
import { embeddedBuild, workerCode } from './inline/unpack.js';
import { setRuntime } from './platform/current.js';

/** Whether this is Node, Bun or Deno, also under jsdom. Pages of Electron do not count: they start workers as browsers do. */
function isNode(): boolean {
  const { process } = globalThis as { process?: { getBuiltinModule?: unknown; type?: string } };
  return typeof process?.getBuiltinModule === 'function' && process.type !== 'renderer';
}

setRuntime(isNode() ? inlineInNode : inlineInBrowser);

export * from './face.js';

/** For platform_node.ts: programs that bundlers made of this package into one file without its other files. */
export const _internals = { embeddedBuild, workerCode };
