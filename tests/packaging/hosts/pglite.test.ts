import { test } from 'vitest';
import { expectGuide, stageWithModels, useAlias } from './guide.js';
import { versionsOf } from './stage.js';

test.each(versionsOf('pglite'))('PGlite %s', async (version) => {
  const adapt = (code: string) => (version === '0.5' ? code : code.replace('@electric-sql/pglite-pgvector', '@electric-sql/pglite/vector'));
  const app = await stageWithModels('pglite', version);
  await expectGuide(app, 'pglite', adapt);
  await useAlias(app);
  await expectGuide(app, 'pglite', (code) => adapt(code).replace("from 'peruse'", "from '@huggingface/transformers'"));
});
