// Reads WebAssembly: numbers, sections and instructions (https://webassembly.github.io/spec/core/binary).

export class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error('The file ends within an instruction.');
    return value;
  }
  /** An unsigned LEB128 number. Larger ones than 2^53 lose digits, which matters to no caller. */
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  /** The next `length` bytes. */
  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  /** Bytes whose number precedes them. */
  sized() {
    return this.take(this.number());
  }
  skipNumbers(count) {
    for (let i = 0; i < count; ++i) this.number();
  }
  skipList() {
    this.skipNumbers(this.number());
  }
  memory() {
    if (this.number() & 64) this.number(); // the index of a memory
    this.number();
  }
}

/** Bytes of an unsigned LEB128 number. */
export function numberBytes(number) {
  const bytes = [];
  for (let left = number; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left & 127) | 128);
  }
}

/** The sections of a file: their numbers and contents. */
export function sectionsOf(wasm) {
  const sections = [];
  for (const reader = new Reader(wasm, 8); reader.at < wasm.length; ) sections.push({ id: reader.byte(), bytes: reader.sized() });
  return sections;
}

/** The number of functions that a file imports; `bytes`: its section of imports. */
export function importedFunctions(bytes) {
  const reader = new Reader(bytes);
  let functions = 0;
  for (let left = reader.number(); left > 0; --left) {
    for (let name = 0; name < 2; ++name) reader.sized();
    const kind = reader.byte();
    if (kind === 0) {
      reader.number();
      ++functions;
    } else if (kind === 1) {
      reader.byte();
      skipLimits(reader);
    } else if (kind === 2) skipLimits(reader);
    else reader.at += 2;
  }
  return functions;
}

function skipLimits(reader) {
  if (reader.number() & 1) reader.skipNumbers(2);
  else reader.number();
}

/** Skips a function's local variables. */
export function skipLocals(reader) {
  for (let groups = reader.number(); groups > 0; --groups) reader.skipNumbers(2);
}

/** Skips an instruction and returns its opcode. Those with a prefix are prefix * 0x1000 + number: f32x4.mul is 0xfd0e6. */
export function skipInstruction(reader) {
  const opcode = reader.byte();
  if (opcode === 0xfc || opcode === 0xfd || opcode === 0xfe) {
    const sub = reader.number();
    if (opcode === 0xfc) reader.skipNumbers(sub < 8 ? 0 : [8, 10, 12, 14].includes(sub) ? 2 : 1);
    else if (opcode === 0xfd) skipVector(reader, sub);
    else if (sub === 3) reader.byte();
    else reader.memory();
    return opcode * 0x1000 + sub;
  }
  if (opcode >= 0x28 && opcode <= 0x3e) reader.memory();
  else if (opcode === 0x0e) {
    reader.skipList();
    reader.number();
  } else if (opcode === 0x1c) reader.skipList();
  else if (opcode === 0x43) reader.at += 4;
  else if (opcode === 0x44) reader.at += 8;
  else if (opcode === 0x11 || opcode === 0x13) reader.skipNumbers(2);
  else if (kOneNumber.has(opcode)) reader.number();
  return opcode;
}

// Blocks, branches, calls, variables, tables, sizes of memory, integer constants, references
const kOneNumber = new Set([
  0x02, 0x03, 0x04, 0x0c, 0x0d, 0x10, 0x12, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2,
]);

function skipVector(reader, sub) {
  if (sub <= 11 || sub === 92 || sub === 93) reader.memory();
  else if (sub === 12 || sub === 13) reader.at += 16;
  else if (sub >= 21 && sub <= 34) reader.byte();
  else if (sub >= 84 && sub <= 91) {
    reader.memory();
    reader.byte();
  }
}
