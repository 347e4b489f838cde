// A server that breaks connections within one large file.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface BrokenFile {
  content: Uint8Array;
  /** The tag of the next answer; undefined for none. */
  etag(): string | undefined;
  ranges?: boolean;
}

/** Answers requests for the file, and breaks the connection when the body has reached the next of these positions in the file. */
export function breaksAt(
  positions: readonly number[],
  { content, etag, ranges = true }: BrokenFile,
): (request: IncomingMessage, response: ServerResponse) => void {
  const left = [...positions].sort((a, b) => a - b);
  return (request, response) => {
    const [, asked] = (ranges && /^bytes=(\d+)-/.exec(request.headers.range ?? '')) || [];
    const tag = etag();
    const isCurrent = (request.headers['if-range'] ?? tag) === tag;
    const start = asked !== undefined && isCurrent ? Number(asked) : 0;
    const end = left.shift();
    const headers = { ...(tag !== undefined && { etag: tag }), 'content-length': content.length - start };
    const range = { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
    response.writeHead(start > 0 ? 206 : 200, start > 0 ? { ...headers, ...range } : headers);
    if (end === undefined) response.end(content.subarray(start));
    else response.write(content.subarray(start, Math.max(end, start)), () => setTimeout(() => response.destroy(), 2));
  };
}

export function randomPositions(count: number, seed: number, length: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * length);
  });
}
