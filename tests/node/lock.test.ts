// A lock file on a disk that does not answer: loads continue without the lock, and can be aborted.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { lockFile } from '../../web/src/cache/lock_node.js';
import { patience } from '../../web/src/patience.js';

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<typeof import('node:fs/promises')>()),
  writeFile: () => new Promise(() => {}),
}));

const kPath = join(tmpdir(), 'peruse-nowhere', 'x.lock');

const kPatience = { ...patience };
afterEach(() => {
  Object.assign(patience, kPatience);
});

test('waiting ends', async () => {
  Object.assign(patience, { lock: 40, cache: 10 });
  for (let attempt = 0; attempt < 2; ++attempt) {
    const release = await lockFile(kPath, new AbortController().signal);
    release();
  }
});

test('an abort is heard', async () => {
  const controller = new AbortController();
  const waiting = lockFile(kPath, controller.signal);
  setTimeout(() => controller.abort(), 10);
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
});
