import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipeline, SemanticIndex } from '../../web/bundle/peruse.js';
import { tinyText } from '../node/support/tiny.js';
import { fetchTiny } from './tiny_served.js';

/** More texts than the calling thread compares itself: the engine has their vectors. */
const kTexts = 1100;

const texts = Array.from({ length: kTexts }, (_, i) => tinyText([1, 5 + (i % 20), 5 + Math.floor(i / 20), 2]));

async function newEmbedder() {
  const { files } = await fetchTiny('deberta-v2-bare');
  return pipeline('feature-extraction', files);
}

let embed: Awaited<ReturnType<typeof newEmbedder>>;
beforeAll(async () => {
  embed = await newEmbedder();
});
afterAll(() => embed.dispose());

test('an index of more than a thousand texts is searched in the engine, and frees its memory there', async () => {
  const index = new SemanticIndex(embed);
  await index.add(texts.map((text, i) => ({ id: `text ${i}`, text })));
  const [first] = await index.search(texts[777]!, { top_k: 1 });
  expect(first).toMatchObject({ text: texts[777] });
  expect(first!.score).toBeCloseTo(1, 5);
  await index.release();
  expect(await index.search(texts[777]!, { top_k: 1 })).toEqual([first]);
});
