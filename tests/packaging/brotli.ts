import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants } from 'node:zlib';

const kParams = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
const sizes = new Map<string, number>(); // a build takes seconds

/** Size of a file in KB (1024 bytes), compressed as a server would. */
export function brotliKilobytes(path: string): number {
  const size = sizes.get(path) ?? brotliCompressSync(readFileSync(path), { params: kParams }).length / 1024;
  sizes.set(path, size);
  return size;
}

/** Compresses files on several threads, and keeps their sizes for brotliKilobytes(). */
export async function compressTogether(paths: readonly string[]): Promise<void> {
  const compress = async (path: string) => {
    const compressed = await promisify(brotliCompress)(readFileSync(path), { params: kParams });
    sizes.set(path, compressed.length / 1024);
  };
  await Promise.all(paths.map(compress));
}
