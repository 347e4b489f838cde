import { test } from 'vitest';
import { expectGuide, stageWithModels } from './guide.js';
import { versionsOf } from './stage.js';

test.each(versionsOf('pglite'))('PGlite %s', async (version) => {
  const adapt = (code: string) => (version === '0.5' ? code : code.replace('@electric-sql/pglite-pgvector', '@electric-sql/pglite/vector'));
  await expectGuide(await stageWithModels('pglite', version), 'pglite', adapt);
});
