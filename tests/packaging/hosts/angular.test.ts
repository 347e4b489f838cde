import { join } from 'node:path';
import { test } from 'vitest';
import { expectThreeWays, kLeftBehind } from './left_behind.js';
import { stage, versionsOf } from './stage.js';

test.each(versionsOf('angular'))('Angular %s: a build', async (version) => {
  const shared = { 'src/app.js': kLeftBehind['main.js'], 'src/work.js': kLeftBehind['work.js'] };
  const app = await stage('angular', { version, shared });
  await app.run('@angular/cli/bin/ng.js', 'build');
  await expectThreeWays(app.folder, join(app.folder, 'dist/browser'));
});
