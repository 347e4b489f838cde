// A program whose process ends while a GPU still compiles pipelines that nobody waits for any more.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kPeruse = new URL('../../../web/dist/index_node.js', import.meta.url).href;
const kReader = fileURLToPath(new URL('../../../models/peruse-reader-deberta-tiny', import.meta.url));

test.each([
  ['after a load', `await pipeline('question-answering', source, { device: 'webgpu' });`],
  ['after a load and a disposal', `await (await pipeline('question-answering', source, { device: 'webgpu' })).dispose();`],
  [
    'after a load that failed',
    `await pipeline('text-classification', source, { device: 'webgpu' }).catch(({ code }) => console.log(code));`,
  ],
])('%s', (_, use) => {
  const program = `import { pipeline } from '${kPeruse}'; const source = ${JSON.stringify(kReader)}; ${use} console.log('end');`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/end\n$/);
});
