// tools/wasm/sort_functions.mjs: the order of an engine's functions, which decides how well it compresses.
import { expect, test } from 'vitest';

const { sortFunctions } = (await import(new URL('../../tools/wasm/sort_functions.mjs', import.meta.url).href)) as {
  sortFunctions: (wasm: Uint8Array, names: string[]) => { wasm: Uint8Array<ArrayBuffer>; names: string[] };
};

const text = (value: string) => [value.length, ...Buffer.from(value)];
const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes];
const body = (...code: number[]) => [code.length + 2, 0, ...code, 0x0b];

// Function 0 is imported. 1 and 4 are alike, so 4 moves up: both multiply what another function returns.
const moduleOf = (elements: number) =>
  Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, 0x60, 0, 1, 0x7f),
    ...section(2, 1, ...text('env'), ...text('seven'), 0, 0),
    ...section(3, 5, 0, 0, 0, 0, 0),
    ...section(4, 1, 0x70, 0, 2),
    ...section(7, 3, ...text('a'), 0, 1, ...text('b'), 0, 4, ...text('c'), 0, 5),
    ...section(9, 1, elements, 0x41, 0, 0x0b, 2, 2, 4),
    ...section(
      10,
      5,
      ...body(0x10, 2, 0x41, 10, 0x6c, 0x41, 3, 0x6c, 0x41, 5, 0x6c), // call 2, * 10 * 3 * 5
      ...body(0x10, 3, 0x41, 1, 0x6a), // call 3, + 1
      ...body(0x10, 0), // call the import
      ...body(0x10, 3, 0x41, 10, 0x6c, 0x41, 3, 0x6c, 0x41, 5, 0x6c), // call 3, * 10 * 3 * 5
      ...body(0x41, 1, 0x11, 0, 0), // call the table's second function
    ),
  ]);

test('calls, the table and exports follow the functions to their new numbers', async () => {
  const sorted = sortFunctions(moduleOf(0), ['seven', 'one', 'two', 'three', 'four', 'five']);
  expect(sorted.names.slice(0, 3)).toEqual(['seven', 'one', 'four']);
  expect([...sorted.names].sort()).toEqual(['five', 'four', 'one', 'seven', 'three', 'two']);
  const { instance } = await WebAssembly.instantiate(sorted.wasm, { env: { seven: () => 7 } });
  const { a, b, c } = instance.exports as Record<string, () => number>;
  expect([a!(), b!(), c!()]).toEqual([1200, 1050, 1050]);
});

test('elements of another kind are refused', () => {
  expect(() => sortFunctions(moduleOf(1), [])).toThrow('elements of another kind');
});
