// A server with faults. Every load must end, and after the faults the next load must give the right answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, modelCache, pipeline } from '../../../web/dist/index_node.js';
import { startFaultServer } from '../lib/fault_server.mjs';
import { tinyModels } from '../lib/models.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';
import { measureOwnTime } from '../lib/own_time.mjs';
import { setWaits } from '../lib/patience.mjs';

/** The first byte may take a minute, because only the machine can be slow. */
// an idle worker would keep its old limits
const kWaits = { cache: 1000, lock: 2000, retries: [10, 20], retryAfter: 1000, worker: 0 };
const kLongest = 30_000; // milliseconds of own time

export async function run({ random, timeLeft, begin, count }) {
  setWaits(kWaits);
  const server = await startFaultServer(random);
  const folder = mkdtempSync(join(tmpdir(), 'peruse-attack-'));
  Object.assign(env, { remoteHost: server.url, cacheFolder: folder });
  const { files, task, call } = tinyModels().find(({ name }) => name === 'deberta-v2-sequence');
  const load = async (source, options) => {
    const pipe = await pipeline(task, source, options);
    const answer = JSON.stringify(await call(pipe, {}));
    await pipe.dispose();
    return answer;
  };
  try {
    const right = await load(files);
    for (let i = 0; timeLeft(); ++i) {
      env.cache = random.chance(0.8);
      const source = random.chance(0.5) ? 'user/model' : `${server.url}m/`;
      server.serve(files, random.pick([0.1, 0.3, 0.7]));
      begin(`load ${i} of ${source}, cache ${env.cache}`);
      setWaits({ ...kWaits, server: 300 });
      const ownTime = measureOwnTime();
      let answer;
      const loading = load(source, { worker: random.chance(0.1) }).then((given) => {
        answer = given;
      });
      const code = await outcome(loading);
      const took = ownTime();
      if (took > kLongest) throw new Finding(`the load took ${(took / 1000).toFixed(0)} s`);
      // Without a hash, a flipped bit goes unnoticed, and its stored copy remains.
      if (code === 'ok' && answer !== right) count('altered on the way');
      count(code);
      if (i % 10 !== 9) continue;
      begin(`after load ${i}, the server well again`);
      server.serve(files, 0);
      setWaits(kWaits);
      await modelCache.clear();
      if ((await load(source)) !== right) throw new Finding('another answer than before');
    }
    count(
      'faults',
      Object.values(server.counts).reduce((sum, one) => sum + one, 0),
    );
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
