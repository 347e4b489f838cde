// Angular leaves workers and WebAssembly of packages alone: the error says what to do, both remedies work.
import { join } from 'node:path';
import { beforeAll, test } from 'vitest';
import { expectThreeWays } from './left_behind.js';
import { type Stage, stage } from './stage.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('angular', { shared: { 'src/app.js': 'packaging/hosts/left_behind/main.js', 'src/work.js': 'browser/page/work.js' } });
});

test('a build', async () => {
  await app.run('@angular/cli/bin/ng.js', 'build');
  await expectThreeWays(app.folder, join(app.folder, 'dist/browser'));
});
