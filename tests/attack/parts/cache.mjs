// Caches with faults: a caller's own, and a folder with flipped bits. A load must not fail for that, nor use wrong bytes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, pipeline } from '../../../web/dist/index_node.js';
import { startFaultServer } from '../lib/fault_server.mjs';
import { tinyModels } from '../lib/models.mjs';
import { mutateBytes } from '../lib/mutate.mjs';
import { Finding } from '../lib/outcome.mjs';
import { setWaits } from '../lib/patience.mjs';

export async function run({ random, timeLeft, begin, count }) {
  setWaits({ cache: 150, lock: 1000 });
  const server = await startFaultServer(random);
  const { files, task, call } = tinyModels().find(({ name }) => name === 'deberta-v2-sequence');
  server.serve(files, 0);
  const folder = mkdtempSync(join(tmpdir(), 'peruse-attack-'));
  Object.assign(env, { remoteHost: server.url, cacheFolder: folder });
  const load = async (worker) => {
    const pipe = await pipeline(task, 'user/model', { worker });
    const answer = JSON.stringify(await call(pipe, {}));
    count('notices', pipe.info.notices.length);
    await pipe.dispose();
    return answer;
  };
  try {
    const right = await load(false);
    for (let i = 0; timeLeft(); ++i) {
      const own = random.chance(0.4);
      env.cache = own ? faultyCache(random) : true;
      for (let times = 0; times < 4; ++times) {
        begin(`case ${i}.${times}, ${own ? 'own cache' : 'folder'}`);
        if (!own && times > 0) count('entries broken', breakFolder(join(folder, 'v3'), random));
        if ((await load(random.chance(0.1))) !== right) throw new Finding('another answer than without faults');
        count('loads');
      }
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function breakFolder(folder, random) {
  let broken = 0;
  for (const name of readdirSync(folder).filter((one) => /\.(json|body)$/.test(one))) {
    if (random.chance(0.6)) continue;
    const path = join(folder, name);
    if (random.chance(0.1)) rmSync(path);
    else writeFileSync(path, mutateBytes(readFileSync(path), random));
    broken += 1;
  }
  return broken;
}

function faultyCache(random) {
  const entries = new Map();
  const fault = async (well) => {
    if (!random.chance(0.25)) return well();
    switch (random.below(5)) {
      case 0:
        throw new DOMException('full', 'QuotaExceededError');
      case 1:
        return new Promise(() => {});
      case 2:
        return undefined;
      case 3:
        await new Promise((resolve) => setTimeout(resolve, random.below(50)));
        return well();
      default:
        return { status: 200 };
    }
  };
  const stored = ({ bytes, status, headers }) => new Response(status === 200 ? bytes : null, { status, headers });
  return {
    match: (url) =>
      fault(() => {
        const entry = entries.get(url);
        if (entry === undefined) return undefined;
        return stored(random.chance(0.2) ? { ...entry, bytes: mutateBytes(entry.bytes, random) } : entry);
      }),
    put: (url, response) =>
      fault(async () => {
        const { status } = response;
        entries.set(url, { bytes: new Uint8Array(await response.arrayBuffer()), status, headers: [...response.headers] });
      }),
    delete: (url) => fault(() => entries.delete(url)),
  };
}
