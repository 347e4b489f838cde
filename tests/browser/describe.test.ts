import { expect, test } from 'vitest';
import { describe as describeModel, pipeline } from '../../web/bundle/peruse.js';
import { fetchTiny } from './tiny_served.js';

test.each([true, false])('a page describes a model (worker: %s); the script for it loads on use', async (worker) => {
  const { files } = await fetchTiny('deberta-v2-sequence');
  const classify = await pipeline('text-classification', files, { worker });
  const described = await describeModel(files);
  expect(described).toMatchObject({
    model_type: 'deberta-v2',
    downloads: [{ dtype: 'fp32', fits: true, tasks: expect.any(Array) }, {}, {}, {}],
  });
  expect(described.downloads[0]!.tasks).toContain('text-classification');
  expect(described.refused['question-answering']).toMatchObject({ code: 'missing_head' });
  await classify.dispose();
});

test('a page describes a model at an address', async () => {
  const described = await describeModel(new URL('/models/peruse-sentiment-convbert-tiny/', location.href));
  expect(described.downloads[0]!.tasks).toContain('text-classification');
});

test('what is wrong with a model is reported as before', async () => {
  const { files } = await fetchTiny('deberta-v2-sequence');
  await expect(describeModel({ ...files, 'config.json': new TextEncoder().encode('{') })).rejects.toMatchObject({ code: 'malformed_file' });
  await expect(describeModel(new URL('/nothing/here/', location.href))).rejects.toMatchObject({ code: 'not_found' });
});
