import { bytesOf } from './file_bytes.js';
import { notFound } from './model_files.js';
import type { MissingFile, ModelFile } from './source.js';

/** Numbers of bytes to try for a header; few headers need more than the first. */
const kFirstReads = [1 << 16, 1 << 20, 1 << 27];

export interface HeaderReader {
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
