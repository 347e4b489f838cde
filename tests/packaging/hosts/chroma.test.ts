import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectGuide, expectTypes, runModule, stageWithModels } from './guide.js';
import { freePort, kNode, type Served, type Stage, served, versionsOf } from './stage.js';

/** The server's library. npm installs it on some machines only. Later ones need a newer C library than Debian 12 has. */
const kServer = 'chromadb-js-bindings-linux-x64-gnu/chromadb-js-bindings.linux-x64-gnu.node';
const isInstalled = (version: string) =>
  existsSync(fileURLToPath(new URL(`../work/chroma${version}/node_modules/${kServer}`, import.meta.url)));

const address = (version: string, port: number) =>
  version === '3' ? `new ChromaClient({ host: '127.0.0.1', port: ${port} })` : `new ChromaClient({ path: 'http://127.0.0.1:${port}' })`;

function startServer(app: Stage, port: number): Promise<Served> {
  const words = ['chroma', 'run', '--path', join(app.folder, 'data'), '--host', '127.0.0.1', '--port', String(port)];
  const code = `require('./node_modules/${kServer}').cli(${JSON.stringify(words)})`;
  return served(spawn(kNode, ['-e', code], { cwd: app.folder }), `http://127.0.0.1:${port}/api/v2/heartbeat`);
}

describe.each(versionsOf('chroma').map((version) => ({ version, skip: !isInstalled(version) })))('Chroma $version', ({ version, skip }) => {
  let app: Stage;
  let server: Served | undefined;
  let port: number;
  const connect = (code: string) => code.replace('new ChromaClient()', address(version, port));
  beforeAll(async () => {
    if (skip) return;
    app = await stageWithModels('chroma', version);
    port = await freePort();
    server = await startServer(app, port);
  });
  afterAll(() => server?.stop());

  test.skipIf(skip)("the guide's program", async () => {
    await expectGuide(app, 'chroma', connect);
  });

  test.skipIf(skip)('vectors are those of the pipeline, and queries have their own options', async () => {
    const code = `
      import { ChromaClient } from 'chromadb';
      import { pipeline } from 'peruse';
      import { PeruseEmbeddingFunction } from 'peruse/chroma';
      const extract = await pipeline('feature-extraction', './models/sentences');
      const embeddingFunction = new PeruseEmbeddingFunction(extract, { query: { prompt: 'q: ' } });
      const client = new ChromaClient();
      await client.createCollection({ name: 'vectors', embeddingFunction });
      const collection = await client.getCollection({ name: 'vectors', embeddingFunction });
      await collection.add({ ids: ['a', 'b'], documents: ['one', 'q: two'] });
      const { embeddings } = await collection.get({ ids: ['b'], include: ['embeddings'] });
      const [own] = (await extract('q: two', { pooling: 'sentence' })).tolist();
      const far = Math.max(...own.map((value, index) => Math.abs(value - embeddings[0][index])));
      const { distances } = await collection.query({ queryTexts: ['two'], nResults: 1 });
      console.log(JSON.stringify({ near: far < 1e-6, query: Math.abs(distances[0][0]) < 1e-4 }));
      await extract.dispose();`;
    const found = JSON.parse(await runModule(app, 'vectors.mjs', connect(code))) as object;
    expect(found).toEqual({ near: true, query: version >= '3' });
  });

  test.skipIf(skip)('types', async () => {
    await expectTypes(
      app,
      'types.ts',
      `
      import { ChromaClient } from 'chromadb';
      import { pipeline } from 'peruse';
      import { PeruseEmbeddingFunction } from 'peruse/chroma';
      const embeddingFunction = new PeruseEmbeddingFunction(pipeline('feature-extraction', './model/'));
      void new ChromaClient().createCollection({ name: 'texts', embeddingFunction });`,
    );
  });
});
