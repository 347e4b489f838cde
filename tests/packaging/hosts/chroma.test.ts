import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectGuide, expectTypes, runModule, stageWithModels } from './guide.js';
import { freePort, kHasLinuxPackages, kNode, type Served, type Stage, served, versionsOf } from './stage.js';

/** The server's library. Later versions need a newer C library than Debian 12 has. */
const kServer = 'chromadb-js-bindings-linux-x64-gnu/chromadb-js-bindings.linux-x64-gnu.node';

const address = (version: string, port: number) =>
  version === '3' ? `new ChromaClient({ host: '127.0.0.1', port: ${port} })` : `new ChromaClient({ path: 'http://127.0.0.1:${port}' })`;

function startServer(app: Stage, port: number): Promise<Served> {
  const words = ['chroma', 'run', '--path', join(app.folder, 'data'), '--host', '127.0.0.1', '--port', String(port)];
  const code = `require('./node_modules/${kServer}').cli(${JSON.stringify(words)})`;
  return served(spawn(kNode, ['-e', code], { cwd: app.folder }), `http://127.0.0.1:${port}/api/v2/heartbeat`);
}

describe.skipIf(!kHasLinuxPackages).each(versionsOf('chroma'))('Chroma %s', (version) => {
  let app: Stage;
  let server: Served | undefined;
  let port: number;
  const connect = (code: string) => code.replace('new ChromaClient()', address(version, port));
  beforeAll(async () => {
    app = await stageWithModels('chroma', version);
    port = await freePort();
    server = await startServer(app, port);
  });
  afterAll(() => server?.stop());

  test("the guide's program", async () => {
    await expectGuide(app, 'chroma', connect);
  });

  test('vectors are those of the pipeline, and queries have their own options', async () => {
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
      console.log(JSON.stringify({ far, distance: distances[0][0] }));
      await extract.dispose();`;
    const { far, distance } = JSON.parse(await runModule(app, 'vectors.mjs', connect(code))) as { far: number; distance: number };
    expect(far).toBeLessThan(1e-6);
    // Only version 3 has options for queries.
    if (version >= '3') expect(Math.abs(distance)).toBeLessThan(1e-4);
    else expect(distance).toBeGreaterThan(1e-4);
  });

  test('types', async () => {
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
