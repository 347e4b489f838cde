import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PeruseError, pipeline } from '../../web/dist/index_node.js';
import { Tokenizer } from '../../web/dist/index_tokenizer_node.js';

const kModel = fileURLToPath(new URL('../../models/peruse-reader-deberta-tiny', import.meta.url));
const kText = 'The bees live in a hollow oak \u{1F333} behind the mill.';

describe.each([false, true])('with worker: %s', (worker) => {
  test('all calls', async () => {
    const alone = await Tokenizer.from_pretrained(kModel);
    const { tokenizer, dispose } = await pipeline('question-answering', kModel, { worker });
    expect(await tokenizer.count(kText)).toBe(alone.count(kText));
    const encoding = await tokenizer.encode(kText, { text_pair: 'Where?' });
    expect(encoding).toEqual(alone.encode(kText, { text_pair: 'Where?' }));
    expect(await tokenizer.windows(kText, { max_length: 8, stride: 2 })).toEqual(alone.windows(kText, { max_length: 8, stride: 2 }));
    expect(await tokenizer.decode(encoding.ids, { skip_special_tokens: true })).toBe(
      alone.decode(encoding.ids, { skip_special_tokens: true }),
    );
    const tokens = await tokenizer.convert_ids_to_tokens(encoding.ids);
    expect(tokens).toEqual(alone.convert_ids_to_tokens(encoding.ids));
    expect(await tokenizer.convert_tokens_to_ids([...tokens, 'no such token'])).toEqual([...encoding.ids, undefined]);
    alone.dispose();
    await dispose();
    await expect(tokenizer.count(kText)).rejects.toThrow(expect.objectContaining({ code: 'disposed' }));
  });

  test('bad arguments are errors of the call, and the next one works', async () => {
    const { tokenizer, dispose } = await pipeline('question-answering', kModel, { worker });
    for (const bad of [
      () => tokenizer.encode(7 as never),
      () => tokenizer.encode('x', { padding: true } as never),
      () => tokenizer.decode([-1]),
      () => tokenizer.convert_ids_to_tokens([1e9]),
    ]) {
      const error = await bad().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(PeruseError);
      expect(error).toMatchObject({ code: 'invalid_argument' });
    }
    expect(await tokenizer.count('A text.')).toBeGreaterThan(2);
    await dispose();
  });
});

test('beside a call under way', async () => {
  const answer = await pipeline('question-answering', kModel, { worker: true });
  const [found, count] = await Promise.all([answer('Where do the bees live?', kText.repeat(20)), answer.tokenizer.count(kText)]);
  expect(found.answer).not.toBe('');
  expect(count).toBeGreaterThan(10);
  await answer.dispose();
});
