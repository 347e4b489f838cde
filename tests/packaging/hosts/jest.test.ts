// Jest: CommonJS, jsdom, and ES modules.
import { beforeAll, expect, test } from 'vitest';
import { type Stage, stage } from './stage.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('jest', { models: '' });
});

test.each([
  ['CommonJS', 'commonjs', {}],
  ['jsdom', 'jsdom', {}],
  ['ES modules', 'modules', { NODE_OPTIONS: '--experimental-vm-modules' }],
])('%s', async (_, file, environment) => {
  expect(await app.with(environment).run('jest/bin/jest.js', `${file}.test`)).toMatch(/Tests: +\d+ passed, \d+ total/);
});
