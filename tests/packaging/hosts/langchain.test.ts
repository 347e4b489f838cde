import { beforeAll, describe, expect, test } from 'vitest';
import { expectGuide, expectTypes, runModule, stageWithModels } from './guide.js';
import { type Stage, versionsOf } from './stage.js';

describe.each(versionsOf('langchain'))('LangChain %s', (version) => {
  const adapt = (code: string) => (version === '1' ? code : code.replaceAll('@langchain/classic', 'langchain'));
  let app: Stage;
  beforeAll(async () => {
    app = await stageWithModels('langchain', version);
  });

  test("the guide's program", async () => {
    await expectGuide(app, 'langchain', adapt);
  });

  test('queries have their own options, and documents keep their class', async () => {
    const code = `
      import { Document } from '@langchain/core/documents';
      import { Embeddings } from '@langchain/core/embeddings';
      import { pipeline } from 'peruse';
      import { PeruseEmbeddings, PeruseReranker } from 'peruse/langchain';
      const extract = await pipeline('feature-extraction', './models/sentences');
      const rank = await pipeline('text-ranking', './models/ranker');
      const embeddings = new PeruseEmbeddings(extract, { document: { prompt: 'a: ' }, query: { prompt: 'b: ', normalize: true } });
      const own = async (text, options) => (await extract(text, { pooling: 'sentence', prompt: '', ...options })).tolist()[0];
      const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
      const document = new Document({ pageContent: 't1', metadata: { id: 7 }, id: 'seven' });
      const [ranked] = await new PeruseReranker(rank).compressDocuments([document], 't2');
      console.log(JSON.stringify({
        document: same((await embeddings.embedDocuments(['one', 'two']))[1], await own('a: two')),
        query: same(await embeddings.embedQuery('two'), await own('b: two', { normalize: true })),
        kind: embeddings instanceof Embeddings,
        none: await embeddings.embedDocuments([]),
        kept: ranked instanceof Document && ranked.pageContent === 't1' && ranked.metadata.id === 7,
        score: same(ranked.metadata.relevanceScore, (await rank('t2', ['t1']))[0].score),
        given: document.metadata,
        nothing: await new PeruseReranker(rank).compressDocuments([], 't2'),
      }));
      await extract.dispose();
      await rank.dispose();`;
    const found = JSON.parse(await runModule(app, 'options.mjs', code)) as object;
    expect(found).toEqual({ document: true, query: true, kind: true, none: [], kept: true, score: true, given: { id: 7 }, nothing: [] });
  });

  test('types', async () => {
    const code = `
      import { Embeddings, type EmbeddingsInterface } from '@langchain/core/embeddings';
      import type { BaseDocumentCompressor } from '@langchain/core/retrievers/document_compressors';
      import { ContextualCompressionRetriever } from '@langchain/classic/retrievers/contextual_compression';
      import { MemoryVectorStore } from '@langchain/classic/vectorstores/memory';
      import { pipeline } from 'peruse';
      import { PeruseEmbeddings, PeruseReranker } from 'peruse/langchain';
      const embeddings: EmbeddingsInterface = new PeruseEmbeddings(pipeline('feature-extraction', './model/'));
      const whole: Embeddings = new PeruseEmbeddings(pipeline('feature-extraction', './model/'));
      void whole.caller;
      const baseCompressor: BaseDocumentCompressor = new PeruseReranker(pipeline('text-ranking', './model/'), { topN: 2 });
      const baseRetriever = new MemoryVectorStore(embeddings).asRetriever(3);
      void new ContextualCompressionRetriever({ baseRetriever, baseCompressor });`;
    await expectTypes(app, 'types.ts', adapt(code));
  });
});
