// Loads the package's scripts in browsers by their addresses. An import would not work: Vite 5 to 7 do not bundle a worker that imports a second
// file, and a program's own worker contains all of peruse.js. The scripts neither import nor export, so bundlers can copy them unchanged; each
// sets a global (tools/bundle.mjs).
import { absolute } from '../engine/files_browser.js';

const kLoaded = new Map<string, Promise<unknown>>(); // by address: another version of the package on the page has scripts of the same names

/** Returns what the script `peruse-<name>.js` at this address exports. */
export function importPart<T>(name: string, href: string): Promise<T> {
  const loaded = kLoaded.get(href) ?? load(Symbol.for(`peruse.${name}`), absolute(href));
  kLoaded.set(href, loaded);
  loaded.catch(() => kLoaded.delete(href));
  return loaded as Promise<T>;
}

async function load(symbol: symbol, href: string): Promise<unknown> {
  await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ href);
  const part = (globalThis as unknown as Record<symbol, unknown>)[symbol];
  if (part === undefined) throw new Error(`${href} is not a part of Peruse.`);
  return part;
}
