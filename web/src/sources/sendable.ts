import type { FileAccess } from './file_access.js';
import { type SourceSpec, staysHere } from './source.js';
import { compact } from './source_files.js';

/** Converts a source so that a worker can receive it. Files that cannot be sent are read in this thread until the signal fires. */
export async function sendable(spec: SourceSpec, signal: AbortSignal, access: FileAccess): Promise<SourceSpec> {
  if (!staysHere(spec)) return spec.kind === 'bytes' ? compact(spec) : spec;
  const { openFolder, serveFolder } = await access.kit!();
  const { port1, port2 } = new MessageChannel();
  serveFolder(await openFolder(spec, access), port1, signal);
  return { kind: 'port', name: spec.name, port: port2 };
}
