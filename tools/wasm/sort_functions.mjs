// Sorts the functions of a WebAssembly file so that similar ones follow each other. A compressor then finds more of each function in what it
// has just read: an engine is 12 KB smaller after brotli. Linkers sort by folders, and Binaryen by the number of calls.
import { importedFunctions, numberBytes, Reader, sectionsOf, skipInstruction, skipLocals } from './reader.mjs';

const kRun = 5; // bytes that two functions share
const kOften = 1000; // functions with the same run, from which on it says nothing
const kFade = 0.85; // what a function counts for the choice of the next but one, compared with the next
const kSameType = 2; // functions of one type have the same first local variables

/** Returns the file in another order, and the names of its functions by their new numbers. */
export function sortFunctions(wasm, names) {
  const sections = sectionsOf(wasm);
  const of = (id) => new Reader(sections.find((section) => section.id === id).bytes);
  const imports = importedFunctions(of(2).bytes);
  const types = listOf(of(3), (reader) => reader.number());
  const bodies = listOf(of(10), (reader) => reader.sized());
  const order = orderOf(bodies, types);
  const numbers = Array.from({ length: imports }, (_, index) => index);
  order.forEach((old, index) => {
    numbers[imports + old] = imports + index;
  });
  const written = {
    3: () => listBytes(order.map((old) => numberBytes(types[old]))),
    7: (bytes) => listBytes(listOf(new Reader(bytes), (reader) => exportBytes(reader, numbers))),
    8: (bytes) => numberBytes(numbers[new Reader(bytes).number()]),
    9: (bytes) => listBytes(listOf(new Reader(bytes), (reader) => elementBytes(reader, numbers))),
    10: () => listBytes(order.map((old) => sizedBytes(bodyBytes(bodies[old], numbers)))),
  };
  const parts = sections.map(({ id, bytes }) => [Buffer.from([id]), sizedBytes(written[id]?.(bytes) ?? bytes)]).flat();
  const sortedNames = [];
  names.forEach((name, index) => {
    sortedNames[numbers[index]] = name;
  });
  return { wasm: Buffer.concat([wasm.subarray(0, 8), ...parts]), names: sortedNames };
}

function listOf(reader, read) {
  return Array.from({ length: reader.number() }, () => read(reader));
}

function listBytes(items) {
  return Buffer.concat([Buffer.from(numberBytes(items.length)), ...items.map((item) => Buffer.from(item))]);
}

function sizedBytes(bytes) {
  return Buffer.concat([Buffer.from(numberBytes(bytes.length)), Buffer.from(bytes)]);
}

function exportBytes(reader, numbers) {
  const name = sizedBytes(reader.sized());
  const kind = reader.byte();
  const index = reader.number();
  return [...name, kind, ...numberBytes(kind === 0 ? numbers[index] : index)];
}

/** A part of a table that has functions from a constant index on, the only kind that compilers of C++ write. */
function elementBytes(reader, numbers) {
  const start = [reader.number(), reader.byte(), ...numberBytes(reader.number()), reader.byte()];
  if (start[0] !== 0 || start[1] !== 0x41) throw new Error('This file has elements of another kind: add it to elementBytes.');
  return [...start, ...listBytes(listOf(reader, () => numberBytes(numbers[reader.number()])))];
}

/** A function with the new numbers of the functions that it names. */
function bodyBytes(body, numbers) {
  const parts = [];
  const reader = new Reader(body);
  skipLocals(reader);
  let copied = 0;
  while (reader.at < body.length) {
    const start = reader.at;
    const opcode = skipInstruction(reader);
    if (opcode !== 0x10 && opcode !== 0x12 && opcode !== 0xd2) continue; // call, return_call, ref.func
    parts.push(body.subarray(copied, start + 1), Buffer.from(numberBytes(numbers[new Reader(body, start + 1).number()])));
    copied = reader.at;
  }
  return Buffer.concat([...parts, body.subarray(copied)]);
}

/** Starts with the first function, and takes again and again the one that shares most with those before it. */
function orderOf(bodies, types) {
  const runs = bodies.map(runsOf);
  const users = new Map();
  runs.forEach((own, index) => {
    for (const run of own) users.get(run)?.push(index) ?? users.set(run, [index]);
  });
  const size = runs.map((own) => Math.sqrt(own.size + 1));
  const shared = new Float64Array(bodies.length);
  const left = new Set(bodies.keys());
  const order = [];
  for (let next = 0; next >= 0; next = mostSimilar()) {
    left.delete(next);
    order.push(next);
    for (const index of left) shared[index] *= kFade;
    for (const run of runs[next]) {
      const same = users.get(run);
      if (same.length > kOften) continue;
      for (const index of same) shared[index] += 1 / Math.sqrt(same.length);
    }
  }
  return order;

  function mostSimilar() {
    const type = types[order.at(-1)];
    let best = -1;
    let most = -1;
    for (const index of left) {
      const similarity = (shared[index] / size[index]) * (types[index] === type ? kSameType : 1);
      if (similarity > most) [best, most] = [index, similarity];
    }
    return best;
  }
}

/** Hashes of all runs of bytes in a function. */
function runsOf(body) {
  const runs = new Set();
  for (let at = 0; at + kRun <= body.length; ++at) {
    let hash = 0;
    for (let i = 0; i < kRun; ++i) hash = (Math.imul(hash, 31) + body[at + i]) | 0;
    runs.add(hash);
  }
  return runs;
}
