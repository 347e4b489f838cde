// Vitest, one major version back, in Node and in jsdom.
import { beforeAll, expect, test } from 'vitest';
import { type Stage, stage } from './stage.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('vitest', { models: '' });
});

test.each(['node', 'jsdom'])('in %s', async (environment) => {
  expect(await app.run('vitest/vitest.mjs', 'run', '--environment', environment)).toMatch(/Tests +4 passed/);
});
