import { describeError, PeruseError } from '../errors.js';
import type { MissingFile, ModelFile, ModelFolder } from './source.js';

const kChunkBytes = 1 << 20; // bounds the engine's staging buffer

export class BytesFolder implements ModelFolder {
  constructor(
    private readonly files_: Map<string, Uint8Array | Blob>,
    private readonly versions_?: Map<string, string>,
  ) {}

  async open(file: string): Promise<ModelFile | MissingFile> {
    const content = this.files_.get(file);
    if (content === undefined) {
      return { found: false, where: file, why: `only ${[...this.files_.keys()].join(', ')} were given` };
    }
    const size = content instanceof Blob ? content.size : content.length;
    return {
      found: true,
      where: file,
      size,
      version: this.versions_?.get(file),
      chunks: () => slices(content, size, file),
      close: async () => {},
    };
  }
}

async function* slices(content: Uint8Array | Blob, size: number, file: string): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += kChunkBytes) {
    const end = Math.min(size, start + kChunkBytes);
    if (content instanceof Uint8Array) {
      yield content.subarray(start, end);
      continue;
    }
    try {
      yield new Uint8Array(await content.slice(start, end).arrayBuffer());
    } catch (error) {
      throw new PeruseError('not_found', `${file} can't be read any more: ${describeError(error)}.`, { cause: error });
    }
  }
}
