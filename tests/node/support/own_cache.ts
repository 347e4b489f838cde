// Vitest's set-up file: gives each test file a cache of its own, so pipelines do not write into the developer's cache.
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'peruse-test-cache-'));
process.env.PERUSE_CACHE ||= join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'peruse'); // Where set-up put its things.
process.env.XDG_CACHE_HOME = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
