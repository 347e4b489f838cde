// Takes the functions' names out of a WebAssembly file. Emscripten's --emit-symbol-map would number functions before the last passes, which
// sort them.

/** Returns the file without its section "name", and lines "index:name" of all functions. */
export function splitNames(wasm) {
  const parts = [wasm.subarray(0, 8)];
  let symbols = '';
  for (const reader = { at: 8 }; reader.at < wasm.length; ) {
    const start = reader.at;
    const id = wasm[reader.at++];
    const size = number(wasm, reader);
    const end = reader.at + size;
    if (id === 0 && text(wasm, reader) === 'name') symbols = functionNames(wasm, reader, end);
    else parts.push(wasm.subarray(start, end));
    reader.at = end;
  }
  return { wasm: Buffer.concat(parts), symbols };
}

function functionNames(wasm, reader, end) {
  const lines = [];
  while (reader.at < end) {
    const id = wasm[reader.at++];
    const size = number(wasm, reader);
    const next = reader.at + size;
    if (id === 1) {
      for (let left = number(wasm, reader); left > 0; --left) {
        const index = number(wasm, reader);
        lines.push(`${index}:${text(wasm, reader)}`);
      }
    }
    reader.at = next;
  }
  return `${lines.join('\n')}\n`;
}

function text(wasm, reader) {
  const length = number(wasm, reader);
  const value = Buffer.from(wasm.subarray(reader.at, reader.at + length)).toString('utf8');
  reader.at += length;
  return value;
}

/** An unsigned LEB128 number of up to 32 bits. */
function number(wasm, reader) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = wasm[reader.at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return value;
  }
}
