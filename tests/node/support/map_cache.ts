import type { CustomCache } from '../../../web/src/env.js';

/** A cache of the caller's own, in memory. */
export class MapCache implements CustomCache {
  readonly entries = new Map<string, Response>();
  async match(url: string) {
    return this.entries.get(url)?.clone();
  }
  async put(url: string, response: Response) {
    this.entries.set(url, new Response(response.status === 200 ? await response.arrayBuffer() : null, response));
  }
}
