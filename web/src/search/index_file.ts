// The file of an index: 8 bytes that name the format and its version, a digest of 32 bytes, the lengths of header and vectors in bytes
// (float64), the header as JSON, padded with spaces to a multiple of 8 bytes, then the vectors (Store.bytes in stores.ts).
// All numbers are little-endian. The digest is SHA-256 of two digests: of everything from the lengths to the end of the header, and of the
// vectors.
import { sha256 } from '../cache/sha256.js';
import { describeError, PeruseError, show } from '../errors.js';
import { cos_sim } from '../tasks/vectors.js';
import { IndexCore, type IndexedChunk, type IndexedDocument } from './index_core.js';
import { checkIndexOptions, isId, isObject } from './index_options.js';
import type { Embedder, EmbedOptions, SemanticIndexOptions } from './search_types.js';
import type { Kind } from './store.js';
import { fingerprint, kindOf, restoredStore } from './stores.js';

const kMagic = 'PERUSE\u0002\n';
const kVersion = 6; // the place of the version
const kDigestAt = 8;
const kLengthsAt = 40;
const kPrefix = 56; // bytes before the header

/** Text whose vector identifies a model, and minimum cosine for the same model in other builds and on other machines. */
const kProbe = 'The quick brown fox jumps over the lazy dog, 12345.';
const kLeastCosine = 0.99;

/** Identifies the model and options of an index's vectors. */
export interface IndexIdentity extends EmbedOptions {
  kind: Kind;
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
  const { store, chunks } = core.contents(); // Read after the await, so that all parts of the file belong together.
  const places = new Map<IndexedDocument, number>();
  for (const { document } of chunks) if (!places.has(document)) places.set(document, places.size);
  const { vectors: _, ...options } = core.options;
  const header: Header = {
    identity,
    options,
    width: store?.width ?? 0,
    rows: store?.count ?? 0,
    documents: [...places.keys()],
    chunks: chunks.map(({ document, start, end }) => [places.get(document)!, start, end]),
  };
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil((kPrefix + json.length) / 8) * 8 - kPrefix;
  const start = new Uint8Array(kPrefix + length).fill(32, kPrefix);
  start.set(new TextEncoder().encode(kMagic));
  start.set(json, kPrefix);
  const vectors = store?.bytes() ?? new Uint8Array(0);
  const lengths = new DataView(start.buffer, kLengthsAt);
  lengths.setFloat64(0, length, true);
  lengths.setFloat64(8, vectors.length, true);
  start.set(await digestOf(start.subarray(kLengthsAt), vectors), kDigestAt);
  return new Blob([start, vectors]);
}

async function digestOf(header: Uint8Array, vectors: Uint8Array): Promise<Uint8Array> {
  const both = new Uint8Array(64);
  both.set(await sha256(header));
  both.set(await sha256(vectors), 32);
  return sha256(both);
}

/** Loads an index from a file. Throws if its vectors come from another model. */
export async function loadIndex(embedder: Embedder, file: unknown): Promise<IndexCore> {
  const bytes = await bytesOf(file);
  const { header, vectors: stored } = await partsOf(bytes);
  const { identity, options, width, rows: count } = header;
  checkIndexOptions(options);
  const store = restoredStore(identity.kind, width, options.storage ?? 'float32', count, stored);
  if (store === undefined) {
    throw new PeruseError('malformed_file', `The index has ${stored.length} bytes of vectors, which do not fit its header.`);
  }
  await checkIdentity(embedder, options, identity);
  const core = new IndexCore(embedder, options);
  const { model: _, revision: __, dtype: ___, probe: ____, kind: _____, ...how } = identity;
  core.how = how;
  if (count > 0) core.restore(store, chunksIn(header), 'malformed_file');
  return core;
}

async function bytesOf(file: unknown): Promise<Uint8Array> {
  try {
    if (file instanceof Blob) return new Uint8Array(await file.arrayBuffer());
    if (file instanceof ArrayBuffer) return new Uint8Array(file);
    if (file instanceof Uint8Array) return file;
  } catch (error) {
    throw new PeruseError('invalid_argument', `The index can't be read: ${describeError(error)}`, { cause: error });
  }
  throw new PeruseError('invalid_argument', `An index is loaded from a Blob, an ArrayBuffer or a Uint8Array, not from ${show(file)}.`);
}

/** Header and vectors, whose digest is right. */
async function partsOf(bytes: Uint8Array): Promise<{ header: Header; vectors: Uint8Array }> {
  const magic = new TextDecoder('latin1').decode(bytes.subarray(0, kMagic.length));
  if (magic !== kMagic.slice(0, magic.length)) {
    const isOther = magic.slice(0, kVersion) === kMagic.slice(0, kVersion) && magic[kVersion + 1] === '\n';
    const what = isOther ? 'an index of another version of Peruse; make it again from its texts' : 'not the file of a SemanticIndex';
    throw new PeruseError('malformed_file', `This is ${what}.`);
  }
  if (bytes.length < kPrefix) throw new PeruseError('truncated_file', 'The index ends within its header.');
  const lengths = new DataView(bytes.buffer, bytes.byteOffset + kLengthsAt);
  const end = kPrefix + lengths.getFloat64(0, true);
  const size = end + lengths.getFloat64(8, true);
  if (bytes.length < size) throw new PeruseError('truncated_file', `The index has ${bytes.length} bytes instead of ${size}.`);
  const vectors = bytes.subarray(end);
  const digest = await digestOf(bytes.subarray(kLengthsAt, end), vectors);
  if (bytes.length !== size || digest.some((byte, i) => byte !== bytes[kDigestAt + i])) {
    throw new PeruseError('malformed_file', 'The index is damaged: its SHA-256 is not the one in its header.');
  }
  return { header: headerOf(bytes.subarray(kPrefix, end)), vectors };
}

function headerOf(bytes: Uint8Array): Header {
  try {
    const header = JSON.parse(new TextDecoder().decode(bytes)) as Header;
    const { identity, options, width, rows, documents, chunks } = header;
    const isWhole =
      isCount(width) &&
      isCount(rows) &&
      Array.isArray(documents) &&
      Array.isArray(chunks) &&
      chunks.length === rows &&
      ['dense', 'sparse', 'multi_vector'].includes(identity.kind) &&
      Array.isArray(identity.probe);
    if (!isWhole || !isObject(options)) throw new Error('a field is missing');
    return header;
  } catch (error) {
    throw new PeruseError('malformed_file', "The index's header can't be read.", { cause: error });
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function chunksIn({ documents, chunks }: Header): IndexedChunk[] {
  checkDocuments(documents);
  return chunks.map((chunk: unknown, row) => {
    const [place, start, end] = (Array.isArray(chunk) ? chunk : []) as unknown[];
    const document = isCount(place) ? documents[place] : undefined;
    if (document && isCount(start) && isCount(end) && start <= end && end <= document.text.length) return { document, start, end };
    throw new PeruseError('malformed_file', `Chunk ${row} of the index does not refer to a part of a text.`);
  });
}

function checkDocuments(documents: readonly unknown[]): void {
  const ids = new Set<unknown>();
  for (const [place, document] of documents.entries()) {
    const { id, index, text, metadata } = (document ?? {}) as Partial<IndexedDocument>;
    const isWhole =
      isId(id) && !ids.has(id) && isCount(index) && typeof text === 'string' && (metadata === undefined || isObject(metadata));
    if (!isWhole) throw new PeruseError('malformed_file', `Text ${place} of the index has no id of its own, number, text or metadata.`);
    ids.add(id);
  }
}

async function identityOf(embedder: Embedder, options: SemanticIndexOptions, how: EmbedOptions): Promise<IndexIdentity> {
  const { model, revision, dtype } = embedder.info;
  const [probe] = await new IndexCore(embedder, options).vectorsOf([kProbe], how);
  const made = { pooling: 'sentence' as const, ...how };
  return { model, ...(revision === undefined ? {} : { revision }), dtype, kind: kindOf(made), ...made, probe: fingerprint(probe!) };
}

/** Compares the vectors of a fixed text, because equal weights may have different names. */
async function checkIdentity(embedder: Embedder, options: SemanticIndexOptions, stored: IndexIdentity): Promise<void> {
  const { model: _, revision: __, dtype, probe, kind, ...how } = stored;
  const refuse = (why: string) => {
    const named = [stored.model, stored.revision].filter(Boolean).join(' at ');
    const words = `This index was made with ${named} (${dtype}), not with ${embedder.info.model} (${embedder.info.dtype})`;
    throw new PeruseError('invalid_argument', `${words}: ${why}.`);
  };
  if (kind !== kindOf(how)) refuse(`its pooling '${how.pooling}' does not give vectors of kind '${kind}'`);
  if (dtype !== embedder.info.dtype) refuse(`load the model with dtype '${dtype}'`);
  const { probe: own } = await identityOf(embedder, options, how);
  if (own.length !== probe.length) refuse(`its vectors have ${probe.length} numbers, and the model's ${own.length}`);
  const cosine = cos_sim(own, probe);
  if (!(cosine >= kLeastCosine)) refuse(`the two give different vectors to the same text (cosine ${cosine.toFixed(3)})`);
}
