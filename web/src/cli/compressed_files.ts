import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Maximum size in bytes; compressing larger files takes seconds and memory. */
const kLargest = 16e6;
/** brotli level, 0 to 11. Level 5 takes 60 ms for the engine, level 11 takes 2 s. */
const kQuality = 5;
/** Files that are sent uncompressed: compressed formats, and weights, which shrink by a tenth only and need a length for progress bars. */
const kAsTheyAre = /\.(png|jpg|woff2|safetensors)$/;
const kFormats = ['br', 'gzip'] as const;

export type Encoding = (typeof kFormats)[number];

interface FileVersion {
  path: string;
  size: number;
  modified: number;
}

export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  const accepted = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', quality] = part.split(/;\s*q=/).map((text) => text.trim());
    accepted.set(name, quality === undefined ? 1 : Number(quality));
  }
  return kFormats.find((format) => (accepted.get(format) ?? accepted.get('*') ?? 0) > 0);
}

export class CompressedFiles {
  private readonly kept_ = new Map<string, { version: string; bytes: Promise<Buffer> }>();

  async get({ path, size, modified }: FileVersion, encoding: Encoding): Promise<Buffer | undefined> {
    if (size > kLargest || kAsTheyAre.test(path)) return undefined;
    const key = `${encoding} ${path}`;
    const version = `${size} ${modified}`;
    let entry = this.kept_.get(key);
    if (entry?.version !== version) {
      entry = { version, bytes: readFile(path).then((bytes) => compress(bytes, encoding)) };
      this.kept_.set(key, entry);
    }
    const bytes = await entry.bytes;
    return bytes.length < size ? bytes : undefined;
  }
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(bytes);
  return promisify(brotliCompress)(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: kQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
}
