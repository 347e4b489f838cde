// Vitest set-up: each test file gets its own cache instead of the developer's.
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'peruse-test-cache-'));
process.env.PERUSE_CACHE ||= join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'peruse'); // the cache of set-up
process.env.XDG_CACHE_HOME = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
