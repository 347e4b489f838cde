import { beforeAll, describe, expect, test } from 'vitest';
import { type Stage, stage, versionsOf } from './stage.js';

describe.each(versionsOf('jest'))('Jest %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stage('jest', { version, models: '' });
  });

  test.each([
    ['CommonJS', 'commonjs', {}],
    ['jsdom', 'jsdom', {}],
    ['ES modules', 'modules', { NODE_OPTIONS: '--experimental-vm-modules' }],
  ])('%s', async (_, file, environment) => {
    expect(await app.with(environment).run('jest/bin/jest.js', `${file}.test`)).toMatch(/Tests: +\d+ passed, \d+ total/);
  });
});
