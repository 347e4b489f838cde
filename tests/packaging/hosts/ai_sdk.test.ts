import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectGuide, expectTypes, guideCode, runModule, stageWithModels } from './guide.js';
import { type Stage, versionsOf } from './stage.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSpecifications: Record<string, string> = { 4: 'v1', 5: 'v2', 6: 'v3', 7: 'v4' };
const kEmbedding = `
import { embed, embedMany } from 'ai';
import { pipeline } from 'peruse';
import { embeddingModel } from 'peruse/ai-sdk';
`;
const kReranking = `
import { rerank } from 'ai';
import { pipeline } from 'peruse';
import { rerankingModel } from 'peruse/ai-sdk';
`;

describe.each(versionsOf('ai_sdk'))('AI SDK %s', (version) => {
  const specification = kSpecifications[version]!;
  const ranks = version >= '6';
  let app: Stage;
  beforeAll(async () => {
    app = await stageWithModels('ai_sdk', version);
  });

  test("the guide's program for embeddings", async () => {
    await expectGuide(app, 'ai_sdk', (code) => code.replace("'v3'", `'${specification}'`));
  });

  test.runIf(version === '7')('takes the default specification too', async () => {
    await expectGuide(app, 'ai_sdk', (code) => code.replace(", { specificationVersion: 'v3' }", ''));
  });

  test.runIf(ranks)("the guide's program for ranking", async () => {
    await expectGuide(app, 'rerank', (code) => code.replace('(rank)', `(rank, { specificationVersion: '${specification}' })`));
  });

  test('vectors are those of the pipeline; a load that failed and an aborted call throw', async () => {
    const code = `${kEmbedding}
      const settings = { specificationVersion: '${specification}', document: { normalize: true }, modelId: 'mine' };
      const extract = await pipeline('feature-extraction', './models/sentences');
      const model = embeddingModel(extract, settings);
      const { embedding, value } = await embed({ model, value: 'A text.' });
      const own = (await extract('A text.', { pooling: 'sentence', normalize: true })).tolist()[0];
      const same = JSON.stringify(own) === JSON.stringify(embedding);
      const none = await embedMany({ model, values: [] });
      const missing = embeddingModel(pipeline('feature-extraction', './models/none'), settings);
      await new Promise((resolve) => setTimeout(resolve, 200)); // an unhandled rejection would end the program
      const failed = await embed({ model: missing, value: 'A text.', maxRetries: 0 }).catch(({ code }) => code);
      const aborted = await embed({ model, value: 'A text.', maxRetries: 0, abortSignal: AbortSignal.abort() }).catch(() => 'aborted');
      console.log(JSON.stringify({ same, value, none: none.embeddings.length, failed, aborted }));
      await extract.dispose();`;
    const found = JSON.parse(await runModule(app, 'vectors.mjs', code)) as object;
    expect(found).toEqual({ same: true, value: 'A text.', none: 0, failed: 'not_found', aborted: 'aborted' });
  });

  test.runIf(ranks)('ranks as the pipeline does, objects as JSON', async () => {
    const code = `${kReranking}
      const rank = await pipeline('text-ranking', './models/ranker');
      const model = rerankingModel(rank, { specificationVersion: '${specification}', options: { function_to_apply: 'none' } });
      const documents = ['t1 t2', 't3', 't4 t5 t6'];
      const { ranking } = await rerank({ model, query: 't2', documents });
      const objects = documents.map((text) => ({ text }));
      const ofObjects = await rerank({ model, query: 't2', documents: objects, topN: 2 });
      const row = ({ originalIndex, score }) => [originalIndex, score];
      const ours = ({ corpus_id, score }) => [corpus_id, score];
      const options = { function_to_apply: 'none' };
      const texts = objects.map((one) => JSON.stringify(one));
      console.log(JSON.stringify([
        [ranking.map(row), (await rank('t2', documents, options)).map(ours)],
        [ofObjects.ranking.map(row), (await rank('t2', texts, { ...options, top_k: 2 })).map(ours)],
      ]));
      await rank.dispose();`;
    const output = await runModule(app, 'ranks.mjs', code);
    const pairs = JSON.parse(output.split('\n').find((line) => line.startsWith('['))!) as [unknown[], unknown[]][];
    expect(pairs.map(([found]) => found.length)).toEqual([3, 2]);
    for (const [found, expected] of pairs) expect(found).toEqual(expected);
  });

  test.runIf(ranks)("the guide's chat route sends no private detail, and answers with all of them", async () => {
    const { code } = guideCode('chat_route');
    const mock = `
      import { MockLanguageModel${specification.toUpperCase()} as MockLanguageModel } from 'ai/test';
      import { simulateReadableStream } from 'ai';
      export const seen = [];
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      const deltas = ['Dear [PE', 'R_1], I wrote to [EMAIL', '_1].'].map((delta) => ({ type: 'text-delta', id: '1', delta }));
      const chunks = [{ type: 'stream-start', warnings: [] }, { type: 'text-start', id: '1' }, ...deltas, { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }];
      export const openai = () => new MockLanguageModel({
        doStream: async ({ prompt }) => (seen.push(prompt), { stream: simulateReadableStream({ chunks }) }),
      });`;
    await runModule(app, 'openai.mjs', mock);
    const folder = `${JSON.stringify(`${kRoot}models/peruse-tagger-convbert-tiny`)}`;
    const route = code.replace("'@ai-sdk/openai'", "'./openai.mjs'").replace(/'node_modules\/peruse-demo[^']*'/, folder);
    const test = `${route}
      import { seen } from './openai.mjs';
      const parts = [{ type: 'text', text: 'My name is Mary Miller, mail mary@example.org.' }];
      const body = JSON.stringify({ messages: [{ id: '1', role: 'user', parts }] });
      const answer = await (await POST(new Request('http://x/', { method: 'POST', body }))).text();
      const words = [...answer.matchAll(/"delta":"((?:[^"\\\\]|\\\\.)*)"/g)].map(([, delta]) => delta).join('');
      console.log(JSON.stringify({ words, seen: JSON.stringify(seen) }));
      await (await redactor).dispose();`;
    const found = JSON.parse(await runModule(app, 'route.mjs', test)) as { words: string; seen: string };
    expect(found.words).toBe('Dear Mary Miller, I wrote to mary@example.org.');
    expect(found.seen).toContain('My name is [PER_1], mail [EMAIL_1]');
    expect(found.seen).not.toMatch(/Mary|Miller|example\.org/);
  });

  test('types', async () => {
    await expectTypes(
      app,
      'types.ts',
      `${kEmbedding}
      const model = embeddingModel(pipeline('feature-extraction', './model/'), { specificationVersion: '${specification}' });
      const { embedding } = await embed({ model, value: 'A text.' });
      const first: number | undefined = embedding[0];
      const { embeddings } = await embedMany({ model, values: ['A text.'] });
      void [first, embeddings];`,
    );
    if (!ranks) return;
    await expectTypes(
      app,
      'rerank_types.ts',
      `${kReranking}
      import { type LanguageModel, wrapLanguageModel } from 'ai';
      import { redactMiddleware } from 'peruse/ai-sdk';
      import { createRedactor } from 'peruse/redact';
      declare const inner: Parameters<typeof wrapLanguageModel>[0]['model'];
      const middleware = redactMiddleware(createRedactor({ patterns: true }), { specificationVersion: '${specification}' });
      const wrapped: LanguageModel = wrapLanguageModel({ model: inner, middleware });
      void wrapped;
      const model = rerankingModel(pipeline('text-ranking', './model/'), { specificationVersion: '${specification}' });
      const { ranking } = await rerank({ model, query: 'Who?', documents: ['A text.'] });
      const score: number | undefined = ranking[0]?.score;
      void score;`,
    );
  });
});
