// Reads broken ONNX files with the reader alone, thousands of times as often as `files` loads them. A file must be refused with a typed error,
// or give exactly the bytes that its safetensors header announces, however its own bytes arrive. Most files are a few neighbouring nodes with their
// tensors, which are read twenty times as fast as whole files.
import { openOnnx } from '../../../web/dist/onnx/onnx_weights.js';
import { onnxModels } from '../lib/models.mjs';
import { mutate } from '../lib/mutate.mjs';
import { pieceOf } from '../lib/onnx_pieces.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';
import { measureOwnTime } from '../lib/own_time.mjs';

const kSlow = 5_000; // milliseconds of own time
const kMostBytes = 64 << 20; // of weights that a file of a few hundred KB may announce
/** Cases between two reports to the parent. They are timed together, because reading the processor's clock takes as long as a case. */
const kReported = 100;

export async function run({ random, timeLeft, begin, count }) {
  const sources = onnxModels().map(({ name, files }) => {
    const path = Object.keys(files).find((one) => one.endsWith('.onnx'));
    return { name, path, bytes: files[path], type: JSON.parse(new TextDecoder().decode(files['config.json'])).model_type };
  });
  let ownTime = measureOwnTime();
  for (let i = 0; timeLeft(); ++i) {
    const { name, path, bytes, type } = random.pick(sources);
    const broken = mutate(path, random.chance(0.99) ? pieceOf(bytes, random) : bytes, random);
    const chunk = random.pick([1 << 20, 4096, 61]);
    if (i % kReported === 0) {
      if (ownTime() > kSlow) throw new Finding(`one of ${kReported} cases before case ${i} took seconds`);
      ownTime = measureOwnTime();
      begin(`cases from ${i}, the first of ${name}`);
    }
    const how = { modelType: type, tied: random.chance(0.5) };
    let code;
    try {
      code = await outcome(readWhole(broken, path, how, random.chance(0.5), chunk));
    } catch (error) {
      begin(`case ${i}: ${name}, chunks of ${chunk}`);
      throw error;
    }
    count('cases');
    count(code === 'ok' ? 'that are read' : code);
  }
}

async function readWhole(bytes, name, how, keepsIntegers, size) {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const file = { found: true, where: name, size: bytes.length, chunks, close: async () => {} };
  const folder = { open: async (one) => (one === name ? file : { found: false, where: one, why: 'there is none' }) };
  const kinds = (all) => all.filter(({ shape }) => shape.length === 2).map(({ name }) => [name, name.includes('word') ? 'words' : 'rows']);
  const encoded = keepsIntegers ? (all) => new Map(kinds(all)) : undefined;
  const opened = await openOnnx({ folder, name, ...how, encoded, signal: new AbortController().signal, report: () => {} });
  if (!(opened.size <= kMostBytes)) throw new Finding(`a file of ${bytes.length} bytes announces ${opened.size}`);
  let header;
  let given = 0;
  for await (const part of opened.chunks()) {
    header ??= part.slice();
    given += part.length;
    if (given > opened.size) throw new Finding(`more than the announced ${opened.size} bytes`);
  }
  if (given !== opened.size) throw new Finding(`${given} bytes instead of the announced ${opened.size}`);
  checkHeader(header, opened.size);
}

const kBytes = { F32: 4, F16: 2, BF16: 2, I8: 1, U8: 1 };

function checkHeader(bytes, size) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const { __metadata__: _, ...entries } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  let at = 0;
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [begin, end],
    },
  ] of Object.entries(entries)) {
    const needs = shape.reduce((product, one) => product * one, kBytes[dtype]);
    if (begin !== at || end - begin !== needs) throw new Finding(`${name}, ${dtype} [${shape}], is at ${begin} to ${end}, after ${at}`);
    at = end;
  }
  if (8 + length + at !== size) throw new Finding(`tensors end at ${8 + length + at} of ${size} bytes`);
}
