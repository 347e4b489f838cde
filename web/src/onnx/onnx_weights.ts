// The weights of an .onnx file as the bytes of a safetensors file.
// The file is read twice: first its graph, then the bytes of the parameters. One tensor at a time is in memory; embedding tables are
// streamed. A file that is not cached is kept in Blobs until then, so that it is transferred once.
import { PeruseError, throwIfAborted } from '../errors.js';
import type { OnnxRequest, OpenedOnnx } from '../sources/onnx_part.js';
import type { ModelFile } from '../sources/source.js';
import { ByteStream } from './byte_stream.js';
import type { Claims } from './claim.js';
import { claimParameters } from './claims.js';
import { CopyCheck } from './copies.js';
import { readGraph } from './graph.js';
import { type Layout, lastPlace, layOut, type Output } from './outputs.js';
import { Pass } from './pass.js';
import { wholeBytes } from './values.js';

const kBlobBytes = 4 << 20;

/** @throws PeruseError 'unsupported' for a file whose parameters cannot be identified. */
export async function openOnnx(request: OnnxRequest): Promise<OpenedOnnx> {
  const { claims, kept } = await named(request.name, () => readClaims(request));
  const layout = layOut(claims, request.encoded);
  return {
    size: layout.header.length + layout.bodyBytes,
    quantized: layout.outputs.some(({ dtype }) => dtype === 'I8' || dtype === 'U8'),
    conflicts: claims.conflicts,
    changes: claims.changes,
    chunks: () => chunksOf(request, claims, layout, kept),
  };
}

async function readClaims(request: OnnxRequest): Promise<{ claims: Claims; kept: Blob[] | undefined }> {
  const file = await openPart(request, request.name);
  const kept: Blob[] | undefined = file.transfers ? [] : undefined;
  const chunks = reported(file, request);
  const stream = new ByteStream(kept ? keeping(chunks, kept) : chunks, request.name);
  try {
    await refuseOthers(stream);
    const claims = claimParameters(await readGraph(stream, request.signal), request);
    return { claims, kept };
  } finally {
    await stream.close();
  }
}

/** Other formats, by their first byte. An ONNX file begins with 8, the key of ir_version. */
const kOthers = new Map([
  ['v', 'a pointer of Git LFS, and not the file itself'],
  ['<', 'an HTML page'],
  ['{', 'JSON'],
]);

async function refuseOthers(stream: ByteStream): Promise<void> {
  const first = await stream.peek();
  if (first === 0x08) return;
  if (first === undefined) throw new PeruseError('truncated_file', 'the file is empty');
  throw new PeruseError('malformed_file', `it is ${kOthers.get(String.fromCharCode(first)) ?? 'no ONNX file'}`);
}

async function* reported(file: ModelFile, { report, signal }: OnnxRequest): AsyncGenerator<Uint8Array> {
  for await (const chunk of file.chunks()) {
    throwIfAborted(signal);
    report(chunk.length);
    yield chunk;
  }
}

async function* keeping(chunks: AsyncIterable<Uint8Array>, kept: Blob[]): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const keep = () => {
    if (bytes > 0) kept.push(new Blob(parts));
    [parts, bytes] = [[], 0];
  };
  for await (const chunk of chunks) {
    parts.push(chunk.slice());
    bytes += chunk.length;
    if (bytes >= kBlobBytes) keep();
    yield chunk;
  }
  keep();
}

async function* chunksOfBlobs(blobs: readonly Blob[]): AsyncGenerator<Uint8Array> {
  for (const blob of blobs) yield new Uint8Array(await blob.arrayBuffer());
}

async function* chunksOf(
  request: OnnxRequest,
  claims: Claims,
  { header, outputs }: Layout,
  kept: readonly Blob[] | undefined,
): AsyncGenerator<Uint8Array> {
  yield header;
  for (const shape of claims.zeros.values()) yield new Uint8Array(4 * shape[0]!);
  const files = new Map<string | undefined, Output[]>();
  for (const output of outputs) {
    const place = lastPlace(output);
    if (place) {
      const ofFile = files.get(place.file);
      if (ofFile) ofFile.push(output);
      else files.set(place.file, [output]);
    } else yield* wholeBytes(output.claim, output.dtype, (tensor) => tensor.bytes!);
  }
  const copies = new CopyCheck(claims.copies);
  for (const { place } of copies.tensors) if (place) files.set(place.file, files.get(place.file) ?? []);
  for (const [file, ofFile] of files) yield* chunksOfFile(request, file, ofFile, copies, kept);
  await named(request.name, async () => copies.finish());
}

async function* chunksOfFile(
  request: OnnxRequest,
  external: string | undefined,
  outputs: readonly Output[],
  copies: CopyCheck,
  kept: readonly Blob[] | undefined,
): AsyncGenerator<Uint8Array> {
  const { name, signal } = request;
  const path = external === undefined ? name : externalPath(name, external);
  const chunks = async () => {
    if (external === undefined && kept) return chunksOfBlobs(kept);
    const file = await named(name, () => openPart(request, path));
    return external === undefined ? file.chunks() : reported(file, request);
  };
  const stream = new ByteStream(await chunks(), path);
  const pass = new Pass(stream, external, outputs, copies).run();
  try {
    for (;;) {
      const { done, value } = await named(path, () => pass.next());
      if (done) return;
      throwIfAborted(signal);
      yield value;
    }
  } finally {
    await pass.return(undefined);
    await stream.close();
  }
}

/** Returns the path of external data. It must begin with the file's own path, so that a graph cannot name other files. */
function externalPath(name: string, location: string): string {
  const slash = name.lastIndexOf('/') + 1;
  const own = name.slice(slash);
  if (!location.startsWith(own) || /[/\\:%]/.test(location)) {
    throw new PeruseError('unsupported', `${name}: it names a file of weights that is not read: ${location}`);
  }
  return name.slice(0, slash) + location;
}

async function openPart({ folder, name, signal }: OnnxRequest, path: string): Promise<ModelFile> {
  const file = await folder.open(path, signal);
  if (file.found) return file;
  const what =
    path === name
      ? `there is no ${file.where}`
      : `its weights are in ${path.slice(path.lastIndexOf('/') + 1)}, which is not in the same folder`;
  throw new PeruseError(file.offline ? 'offline' : 'not_found', `${what} (${file.why})`);
}

async function named<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code === 'aborted' || error.message.includes(name)) throw error;
    throw new PeruseError(error.code, `${name}: ${error.message.replace(/^ONNX: /, '').replace(/\.$/, '')}.`, { cause: error });
  }
}
