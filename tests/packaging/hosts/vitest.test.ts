import { beforeAll, describe, expect, test } from 'vitest';
import { type Stage, stage, versionsOf } from './stage.js';

describe.each(versionsOf('vitest'))('Vitest %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stage('vitest', { version, models: '' });
  });

  test.each(['node', 'jsdom'])('in %s', async (environment) => {
    expect(await app.run('vitest/vitest.mjs', 'run', '--environment', environment)).toMatch(/Tests +4 passed/);
  });
});
