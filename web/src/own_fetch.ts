// env.fetch, for code that workers load without the settings. A worker has none: its requests are sent by the thread that set env.fetch.

/** Key of the object that all bundles of the package share in one thread: each bundle has its own copy of env.ts. */
export const kShared = Symbol.for('peruse.env');

/** `env.fetch` of this thread. */
export function ownFetch(): typeof globalThis.fetch | undefined {
  return (globalThis as { [kShared]?: { ownFetch(): typeof globalThis.fetch | undefined } })[kShared]?.ownFetch();
}
