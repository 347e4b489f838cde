// Libraries from npm that import @huggingface/transformers find peruse-transformers in its place. An override in their package.json installs a small
// package of another kind under that name; useAlias() replaces it.
import { expect, test } from 'vitest';
import { stageWithModels, useAlias } from './guide.js';
import { kNode, runProgram, versionsOf } from './stage.js';

const kOutputs: Record<string, string> = {
  1: 'LlamaIndex true\n@browser-ai true\nmem0 true true\n',
  2: 'LangChain true true\n',
};

test.each(versionsOf('on_alias'))('libraries %s', async (version) => {
  const app = await stageWithModels('on_alias', version);
  await useAlias(app);
  expect(await runProgram(app.folder, kNode, ['libraries.mjs'])).toBe(kOutputs[version]);
});
