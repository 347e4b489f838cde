import type { ModelFile } from './source.js';

/** Reads a file, or its first `most` bytes. */
export async function bytesOf(file: ModelFile, most = Infinity): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.chunks()) {
    const part = chunk.slice(0, most - length);
    parts.push(part);
    length += part.length;
    if (length >= most) break; // also stops the transfer
  }
  return joined(parts);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The chunks of a file whose content is in memory. */
export async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
