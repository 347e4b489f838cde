// Programs in the style of transformers.js's documentation: only the import is another one, or not even that, with the package peruse-transformers
// under the name @huggingface/transformers. More are in tests/node/transformers_js.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { stageWithModels, useAlias } from './guide.js';
import { kNode, runProgram, type Stage } from './stage.js';

const kModels = fileURLToPath(new URL('../../../models/', import.meta.url));

let app: Stage;
beforeAll(async () => {
  app = await stageWithModels('programs', '');
  await cp(join(kModels, 'peruse-sentiment-convbert-tiny'), join(app.folder, 'models/sentiment'), { recursive: true });
  await useAlias(app);
});

test.each([
  ['empty_text', 'string true 2 POSITIVE\n'],
  ['reranker', '3,1 true true\n'],
  ['count_without_waiting', '9 1,9 9\n'],
  ['batch_data', 'float32 true true\ntrue\ntrue 1\n'],
  ['quantized', 'POSITIVE true q8 ready\n'],
  ['token_count', '9 true a gem of a film.\n'],
])('%s', async (name, output) => {
  expect(await runProgram(app.folder, kNode, [`${name}.mjs`])).toBe(output);
});
