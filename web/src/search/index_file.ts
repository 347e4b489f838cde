// The file of an index: 8 bytes that name the format, the length of the header (uint32, little-endian), the header as JSON, padded with
// spaces to a multiple of 8 bytes, then float32 vectors, or float32 scales and 8-bit vectors.
import { PeruseError, show } from '../errors.js';
import { cos_sim } from '../tasks/vectors.js';
import { IndexCore, type IndexedChunk, type IndexedDocument } from './index_core.js';
import { checkIndexOptions } from './index_options.js';
import { Rows } from './rows.js';
import type { Embedder, EmbedOptions, SemanticIndexOptions } from './search_types.js';

const kMagic = 'PERUSE\u0001\n';
const kPrefix = 12; // bytes before the header

/** Text whose vector identifies a model, and minimum cosine for the same model in other builds and on other machines. */
const kProbe = 'The quick brown fox jumps over the lazy dog, 12345.';
const kLeastCosine = 0.99;

/** Identifies the model and options of an index's vectors. */
export interface IndexIdentity extends EmbedOptions {
  model: string;
  revision?: string;
  dtype: string;
  /** The vector of a fixed text. */
  probe: number[];
}

interface Header {
  identity: IndexIdentity;
  options: Omit<SemanticIndexOptions, 'vectors'>;
  width: number;
  rows: number;
  documents: IndexedDocument[];
  /** One for each row. `document` is an index into `documents`. */
  chunks: [document: number, start: number, end: number][];
}

export async function saveIndex(core: IndexCore): Promise<Blob> {
  const identity = await identityOf(core.embedder, core.options, core.how ?? {});
  const { rows, chunks } = core.contents(); // Read after the await, so that all parts of the file belong together.
  const places = new Map<IndexedDocument, number>();
  for (const { document } of chunks) if (!places.has(document)) places.set(document, places.size);
  const { vectors: _, ...options } = core.options;
  const header: Header = {
    identity,
    options,
    width: rows?.width ?? 0,
    rows: rows?.count ?? 0,
    documents: [...places.keys()],
    chunks: chunks.map(({ document, start, end }) => [places.get(document)!, start, end]),
  };
  const json = new TextEncoder().encode(JSON.stringify(header));
  const padded = new Uint8Array(Math.ceil((kPrefix + json.length) / 8) * 8 - kPrefix).fill(32);
  padded.set(json);
  const prefix = new Uint8Array(kPrefix);
  prefix.set(new TextEncoder().encode(kMagic));
  new DataView(prefix.buffer).setUint32(8, padded.length, true);
  const { scales, data } = rows?.stored() ?? {};
  return new Blob([prefix, padded, ...[scales, data].filter((part) => part !== undefined)]);
}

/** Loads an index from a file. Throws if its vectors come from another model. */
export async function loadIndex(embedder: Embedder, file: unknown): Promise<IndexCore> {
  const bytes = await bytesOf(file);
  const { header, at } = headerOf(bytes);
  const { identity, options, width, rows: count } = header;
  checkIndexOptions(options);
  const rows = new Rows(width, options.storage ?? 'float32');
  const isInt8 = rows.storage === 'int8';
  const size = count * width * (isInt8 ? 1 : 4) + (isInt8 ? 4 * count : 0);
  if (bytes.length - at !== size) {
    const code = bytes.length - at < size ? 'truncated_file' : 'malformed_file';
    throw new PeruseError(code, `The index has ${bytes.length - at} bytes of vectors; its header needs ${size}.`);
  }
  const vectors = bytes.slice(at).buffer;
  const floats = new Float32Array(vectors, 0, isInt8 ? count : count * width);
  rows.restore(floats, isInt8 ? new Int8Array(vectors, 4 * count) : new Int8Array(0));
  await checkIdentity(embedder, options, identity);
  const core = new IndexCore(embedder, options);
  const { model: _, revision: __, dtype: ___, probe: ____, ...how } = identity;
  core.how = how;
  if (count > 0) core.restore(rows, chunksIn(header));
  return core;
}

async function bytesOf(file: unknown): Promise<Uint8Array> {
  if (file instanceof Blob) return new Uint8Array(await file.arrayBuffer());
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  if (file instanceof Uint8Array) return file;
  throw new PeruseError('invalid_argument', `An index is loaded from a Blob, an ArrayBuffer or a Uint8Array, not from ${show(file)}.`);
}

function headerOf(bytes: Uint8Array): { header: Header; at: number } {
  const magic = new TextDecoder().decode(bytes.subarray(0, kMagic.length));
  if (magic !== kMagic.slice(0, magic.length)) throw new PeruseError('malformed_file', 'This is not the file of a SemanticIndex.');
  const length = bytes.length < kPrefix ? Infinity : new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  if (bytes.length < kPrefix + length) throw new PeruseError('truncated_file', 'The index ends within its header.');
  try {
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(kPrefix, kPrefix + length))) as Header;
    const { identity, options, width, rows, documents, chunks } = header;
    const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    const isWhole =
      isCount(width) &&
      isCount(rows) &&
      Array.isArray(documents) &&
      Array.isArray(chunks) &&
      chunks.length === rows &&
      Array.isArray(identity.probe);
    if (!isWhole || typeof options !== 'object') throw new Error('a field is missing');
    return { header, at: kPrefix + length };
  } catch (error) {
    throw new PeruseError('malformed_file', "The index's header can't be read.", { cause: error });
  }
}

function chunksIn({ documents, chunks }: Header): IndexedChunk[] {
  return chunks.map(([place, start, end], row) => {
    const document = documents[place];
    if (typeof document?.text === 'string' && start >= 0 && start <= end && end <= document.text.length) return { document, start, end };
    throw new PeruseError('malformed_file', `Chunk ${row} of the index does not refer to a part of a text.`);
  });
}

async function identityOf(embedder: Embedder, options: SemanticIndexOptions, how: EmbedOptions): Promise<IndexIdentity> {
  const { model, revision, dtype } = embedder.info;
  const [probe] = await new IndexCore(embedder, options).vectorsOf([kProbe], how);
  return { model, ...(revision === undefined ? {} : { revision }), dtype, pooling: 'sentence', ...how, probe: [...probe!] };
}

/** Compares the vectors of a fixed text, because equal weights may have different names. */
async function checkIdentity(embedder: Embedder, options: SemanticIndexOptions, stored: IndexIdentity): Promise<void> {
  const { model: _, revision: __, dtype, probe, ...how } = stored;
  const refuse = (why: string) => {
    const named = [stored.model, stored.revision].filter(Boolean).join(' at ');
    const words = `This index was made with ${named} (${dtype}), not with ${embedder.info.model} (${embedder.info.dtype})`;
    throw new PeruseError('invalid_argument', `${words}: ${why}.`);
  };
  if (dtype !== embedder.info.dtype) refuse(`load the model with dtype '${dtype}'`);
  const { probe: own } = await identityOf(embedder, options, how);
  if (own.length !== probe.length) refuse(`its vectors have ${probe.length} numbers, and the model's ${own.length}`);
  const cosine = cos_sim(own, probe);
  if (!(cosine >= kLeastCosine)) refuse(`the two give different vectors to the same text (cosine ${cosine.toFixed(3)})`);
}
