import type { FileAccess } from './file_access.js';
import { serveFolder } from './folder_port.js';
import { openFolder, staysHere } from './open_folder.js';
import type { SourceSpec } from './source.js';
import { compact } from './source_files.js';

/** Converts a source so that a worker can receive it. Files that cannot be sent are read in this thread until the signal fires. */
export async function sendable(spec: SourceSpec, signal: AbortSignal, access: FileAccess): Promise<SourceSpec> {
  if (!staysHere(spec)) return spec.kind === 'bytes' ? compact(spec) : spec;
  const { port1, port2 } = new MessageChannel();
  serveFolder(await openFolder(spec, access), port1, signal);
  return { kind: 'port', name: spec.name, port: port2 };
}
