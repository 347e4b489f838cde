// Takes the functions' names out of a WebAssembly file. Emscripten's --emit-symbol-map would number functions before the last passes, which
// sort them.
import { numberBytes, Reader, sectionsOf } from './reader.mjs';

/** Returns the file without its section "name", and the names of functions by their numbers. */
export function splitNames(wasm) {
  let names = [];
  const parts = [wasm.subarray(0, 8)];
  for (const { id, bytes } of sectionsOf(wasm)) {
    const reader = new Reader(bytes);
    if (id === 0 && textOf(reader.sized()) === 'name') names = functionNames(reader);
    else parts.push(Buffer.from([id, ...numberBytes(bytes.length)]), bytes);
  }
  return { wasm: Buffer.concat(parts), names };
}

/** Lines "index:name". */
export function symbolLines(names) {
  return `${names.flatMap((name, index) => (name === undefined ? [] : [`${index}:${name}`])).join('\n')}\n`;
}

function functionNames(reader) {
  const names = [];
  while (reader.at < reader.bytes.length) {
    const id = reader.byte();
    const part = new Reader(reader.sized());
    if (id !== 1) continue;
    for (let left = part.number(); left > 0; --left) names[part.number()] = textOf(part.sized());
  }
  return names;
}

function textOf(bytes) {
  return Buffer.from(bytes).toString('utf8');
}
