// Programs in the style of transformers.js's documentation: only the import is another one. More are in tests/node/transformers_js.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { stageWithModels } from './guide.js';
import { kNode, runProgram, type Stage } from './stage.js';

const kModels = fileURLToPath(new URL('../../../models/', import.meta.url));

let app: Stage;
beforeAll(async () => {
  app = await stageWithModels('programs', '');
  await cp(join(kModels, 'peruse-sentiment-convbert-tiny'), join(app.folder, 'models/sentiment'), { recursive: true });
});

test.each([
  ['batch_data', 'float32 true true\ntrue\ntrue 1\n'],
  ['quantized', 'POSITIVE true q8 ready\n'],
  ['token_count', '9 true a gem of a film.\n'],
])('%s', async (name, output) => {
  expect(await runProgram(app.folder, kNode, [`${name}.mjs`])).toBe(output);
});
