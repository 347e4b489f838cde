// Reads the functions of a WebAssembly file: names from the list that tools/build.mjs writes next to it, and opcodes.
// https://webassembly.github.io/spec/core/binary/instructions.html

export interface WasmFunction {
  name: string;
  bytes: Uint8Array;
}

class Reader {
  constructor(
    readonly bytes: Uint8Array,
    public at = 0,
  ) {}

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error('The file ends within an instruction.');
    return value;
  }
  /** An unsigned LEB128 number. Larger ones than 2^53 lose digits, which does not matter here. */
  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  skipNumbers(count: number): void {
    for (let i = 0; i < count; ++i) this.number();
  }
  skipList(): void {
    this.skipNumbers(this.number());
  }
  memory(): void {
    if (this.number() & 64) this.number(); // the index of a memory
    this.number();
  }
}

/** Opcodes with a prefix are prefix * 0x1000 + number: f32x4.mul is 0xfd0e6. */
export function opcodesOf(body: Uint8Array): number[] {
  const reader = new Reader(body);
  for (let groups = reader.number(); groups > 0; --groups) reader.skipNumbers(2); // local variables
  const opcodes: number[] = [];
  while (reader.at < body.length) opcodes.push(skipInstruction(reader));
  return opcodes;
}

function skipInstruction(reader: Reader): number {
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

function skipVector(reader: Reader, sub: number): void {
  if (sub <= 11 || sub === 92 || sub === 93) reader.memory();
  else if (sub === 12 || sub === 13) reader.at += 16;
  else if (sub >= 21 && sub <= 34) reader.byte();
  else if (sub >= 84 && sub <= 91) {
    reader.memory();
    reader.byte();
  }
}

/** `symbols`: lines "index:name". */
export function functionsOf(wasm: Uint8Array, symbols: string): WasmFunction[] {
  const names = new Map(
    symbols.split('\n').flatMap((line) => {
      const [, index, name = ''] = /^(\d+):(.*)$/.exec(line) ?? [];
      return index === undefined ? [] : [[Number(index), name] as const];
    }),
  );
  const functions: WasmFunction[] = [];
  let imports = 0;
  const reader = new Reader(wasm, 8);
  while (reader.at < wasm.length) {
    const section = reader.byte();
    const size = reader.number();
    const end = reader.at + size;
    if (section === 2) imports = importedFunctions(reader);
    if (section === 10) {
      for (let count = reader.number(), i = 0; i < count; ++i) {
        const length = reader.number();
        functions.push({ name: names.get(imports + i) ?? '', bytes: wasm.subarray(reader.at, reader.at + length) });
        reader.at += length;
      }
    }
    reader.at = end;
  }
  return functions;
}

function importedFunctions(reader: Reader): number {
  let functions = 0;
  for (let left = reader.number(); left > 0; --left) {
    for (let name = 0; name < 2; ++name) {
      const length = reader.number();
      reader.at += length;
    }
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

function skipLimits(reader: Reader): void {
  if (reader.number() & 1) reader.skipNumbers(2);
  else reader.number();
}

/** Whether an opcode computes with vectors of floats, or multiplies vectors of integers. Moves, comparisons and bit operations do not. */
export function isVectorArithmetic(opcode: number): boolean {
  const sub = opcode - 0xfd000;
  return (sub >= 0xe4 && sub <= 0xe7) || (sub >= 0xf0 && sub <= 0xf3) || kProducts.has(sub) || (sub >= 0x105 && sub <= 0x113);
}

// i16x8.mul, i16x8.extmul_*, i32x4.mul, i32x4.dot_i16x8_s, i32x4.extmul_*
const kProducts = new Set([0x95, 0x9c, 0x9d, 0x9e, 0x9f, 0xb5, 0xba, 0xbc, 0xbd, 0xbe, 0xbf]);
