// peruse/inline: the package, its worker and its engine in one file, for browsers and Node. It does not load any other file.
import { inlineInBrowser } from './inline/platform_browser.js';
import { inlineInNode } from './inline/platform_node.js';
import { setPlatform } from './platform/current.js';

/** Node and programs like it (Bun, Deno), also below jsdom. Not the pages of Electron: they start workers as browsers do. */
function isNode(): boolean {
  const { process } = globalThis as { process?: { getBuiltinModule?: unknown; type?: string } };
  return typeof process?.getBuiltinModule === 'function' && process.type !== 'renderer';
}

setPlatform(isNode() ? inlineInNode : inlineInBrowser);

export * from './face.js';
export { embeddedBuild, workerCode } from './inline/unpack.js'; // For platform_node.ts.
