import { ownFetch } from '../own_fetch.js';
import type { FileAccess } from './file_access.js';
import { serveFetch } from './http/fetch_port.js';
import { fetchInBrowser } from './http/fetching.js';
import { type SourceSpec, staysHere } from './source.js';
import { compact } from './source_files.js';

/** Converts a source so that a worker can receive it. Files that cannot be sent are read in this thread until the signal fires. */
export async function sendable(spec: SourceSpec, signal: AbortSignal, access: FileAccess): Promise<SourceSpec> {
  if (spec.kind === 'bytes') return compact(spec);
  if (!staysHere(spec)) return ownFetch() || access.fetchesHere || isReplaced(fetch) ? withFetch(spec, signal, access) : spec;
  const { openFolder, serveFolder } = await access.kit!();
  const { port1, port2 } = new MessageChannel();
  serveFolder(await openFolder(spec, access), port1, signal);
  return { kind: 'port', name: spec.name, port: port2 };
}

/** Whether a page has its own fetch(), for example to add headers. */
function isReplaced(given: typeof fetch): boolean {
  return !Function.prototype.toString.call(given).includes('[native code]');
}

/** Lets this thread send the requests of a worker. */
function withFetch(spec: SourceSpec, signal: AbortSignal, access: FileAccess): SourceSpec {
  if (spec.kind === 'either') {
    return { ...spec, first: withFetch(spec.first, signal, access), second: withFetch(spec.second, signal, access) };
  }
  if (spec.kind !== 'url') return spec;
  const { port1, port2 } = new MessageChannel();
  serveFetch(port1, access.fetchFile ?? fetchInBrowser, signal);
  return { ...spec, fetch: port2 };
}
