// Reads the functions of a WebAssembly file: names from the list that tools/build.mjs writes next to it, and opcodes.

export interface WasmFunction {
  name: string;
  bytes: Uint8Array;
}

interface Reader {
  readonly bytes: Uint8Array;
  at: number;
  number(): number;
  sized(): Uint8Array;
}

const { Reader, importedFunctions, sectionsOf, skipInstruction, skipLocals } = (await import(
  new URL('../../../tools/wasm/reader.mjs', import.meta.url).href
)) as {
  Reader: new (bytes: Uint8Array) => Reader;
  sectionsOf: (wasm: Uint8Array) => { id: number; bytes: Uint8Array }[];
  importedFunctions: (bytes: Uint8Array) => number;
  skipLocals: (reader: Reader) => void;
  skipInstruction: (reader: Reader) => number;
};

/** Opcodes with a prefix are prefix * 0x1000 + number: f32x4.mul is 0xfd0e6. */
export function opcodesOf(body: Uint8Array): number[] {
  const reader = new Reader(body);
  skipLocals(reader);
  const opcodes: number[] = [];
  while (reader.at < body.length) opcodes.push(skipInstruction(reader));
  return opcodes;
}

/** `symbols`: lines "index:name". */
export function functionsOf(wasm: Uint8Array, symbols: string): WasmFunction[] {
  const names = new Map(
    symbols.split('\n').flatMap((line) => {
      const [, index, name = ''] = /^(\d+):(.*)$/.exec(line) ?? [];
      return index === undefined ? [] : [[Number(index), name] as const];
    }),
  );
  const sections = sectionsOf(wasm);
  const contents = (id: number) => sections.find((section) => section.id === id)!.bytes;
  const imports = importedFunctions(contents(2));
  const reader = new Reader(contents(10));
  return Array.from({ length: reader.number() }, (_, index) => ({ name: names.get(imports + index) ?? '', bytes: reader.sized() }));
}

/** Whether an opcode computes with vectors of floats, or multiplies vectors of integers. Moves, comparisons and bit operations do not. */
export function isVectorArithmetic(opcode: number): boolean {
  const sub = opcode - 0xfd000;
  return (sub >= 0xe4 && sub <= 0xe7) || (sub >= 0xf0 && sub <= 0xf3) || kProducts.has(sub) || (sub >= 0x105 && sub <= 0x113);
}

// i16x8.mul, i16x8.extmul_*, i32x4.mul, i32x4.dot_i16x8_s, i32x4.extmul_*
const kProducts = new Set([0x95, 0x9c, 0x9d, 0x9e, 0x9f, 0xb5, 0xba, 0xbc, 0xbd, 0xbe, 0xbf]);
