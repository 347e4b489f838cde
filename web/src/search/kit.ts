// The parts of SemanticIndex that load on use (web/bundle/peruse-search.js in pages).
import { PeruseError } from '../errors.js';
import { IndexCore, type IndexedChunk } from './index_core.js';
import { checkIndexOptions } from './index_options.js';
import { Rows } from './rows.js';
import type { Embedder, SemanticIndexOptions } from './search_types.js';
import { widthOf } from './stores.js';

export { IndexCore } from './index_core.js';
export { loadIndex, saveIndex } from './index_file.js';

export async function newIndex(embedder: Embedder, options: SemanticIndexOptions): Promise<IndexCore> {
  const { vectors, ...others } = options;
  checkIndexOptions(others);
  const core = new IndexCore(embedder, others);
  if (vectors === undefined || vectors.length === 0) return core;
  const width = others.dimensions ?? widthOf((await core.vectorsOf(['a'], {}))[0]!);
  if (vectors.length % width !== 0) {
    throw new PeruseError('invalid_argument', `vectors has ${vectors.length} numbers, which is not a multiple of ${width}.`);
  }
  const rows = new Rows(width, others.storage ?? 'float32');
  rows.reserveFor(vectors.length / width);
  for (let at = 0; at < vectors.length; at += width) rows.append(vectors.subarray(at, at + width));
  const chunks = Array.from({ length: rows.count }, (_, row): IndexedChunk => {
    return { document: { id: row, index: row, text: '' }, start: 0, end: 0 };
  });
  core.restore(rows, chunks);
  return core;
}
