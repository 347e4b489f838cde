import { notFound } from './model_files.js';
import type { MissingFile, ModelFile } from './source.js';

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

/** Numbers of bytes to try for a header; few headers need more than the first. */
const kFirstReads = [1 << 16, 1 << 20, 1 << 27];

interface HeaderReader {
  feed(bytes: Uint8Array): unknown;
  hasHeader(): boolean;
}

/** The first bytes of a weights file. They grow until they contain its header, and serve several readers. */
export class FileStart {
  private bytes_ = new Uint8Array();

  constructor(private readonly open_: (most: number) => Promise<ModelFile | MissingFile>) {}

  /** Feeds the file's start until the header has been read. Returns false if the file ends before that. */
  async feedTo(reader: HeaderReader): Promise<boolean> {
    if (this.bytes_.length > 0) await reader.feed(this.bytes_);
    for (const most of kFirstReads) {
      if (reader.hasHeader()) return true;
      const fed = this.bytes_.length;
      if (most <= fed) continue;
      const file = await this.open_(most);
      if (!file.found) throw notFound([file]);
      this.bytes_ = await bytesOf(file, most);
      if (this.bytes_.length > fed) await reader.feed(this.bytes_.subarray(fed));
    }
    return reader.hasHeader();
  }
}
