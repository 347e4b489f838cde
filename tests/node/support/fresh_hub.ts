// A hub (model_hub.ts) and an empty cache folder for each test of a file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type Files, type Hub, startHub } from './model_hub.js';

/** Those of the test that runs. */
export let hub: Hub;
export let folder: string;

/** Adds the hooks of the test file. `envs`: the settings, which are those of the hub and the folder within a test, and unchanged after it. */
export function useFreshHub(envs: readonly object[], files?: () => Files): void {
  const defaults = envs.map((env) => ({ ...env }));
  beforeEach(async () => {
    hub = await startHub(files?.());
    folder = await mkdtemp(join(tmpdir(), 'peruse-cache-'));
    for (const [i, env] of envs.entries()) Object.assign(env, defaults[i], { remoteHost: hub.origin, cacheFolder: folder });
  });
  afterEach(async () => {
    for (const [i, env] of envs.entries()) Object.assign(env, defaults[i]);
    await hub.close();
    await rm(folder, { recursive: true, maxRetries: 10 });
  });
}
