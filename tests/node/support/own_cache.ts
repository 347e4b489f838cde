// Vitest's set-up file: what a test file's pipelines fetch and keep goes with it, and not into the cache of whoever runs the tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'peruse-test-cache-'));
process.env.PERUSE_CACHE ||= join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'peruse'); // Where set-up put its things.
process.env.XDG_CACHE_HOME = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
