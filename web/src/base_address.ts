/**
 * The address that relative addresses refer to: of the page, or of the worker. A worker whose script is a blob, as in Next 15 (Turbopack), has no
 * path, so addresses refer to its origin.
 */
export function baseAddress(): string | undefined {
  if (typeof document !== 'undefined') return document.baseURI;
  const { location } = globalThis;
  return location?.protocol === 'blob:' ? location.origin : location?.href;
}
