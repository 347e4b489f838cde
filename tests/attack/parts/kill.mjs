// Kills processes while they download and store. Stored files must be complete, and later processes must not wait for dead ones.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, pipeline } from '../../../web/dist/index_node.js';
import { startFaultServer } from '../lib/fault_server.mjs';
import { kRoot } from '../lib/models.mjs';
import { Finding } from '../lib/outcome.mjs';
import { measureOwnTime } from '../lib/own_time.mjs';

const kModel = join(kRoot, 'models/peruse-sentiment-convbert-tiny');
const kQuietly = { stdio: ['ignore', 'pipe', 'ignore'] };
const kPackage = new URL('../../../web/dist/index_node.js', import.meta.url).href;

const kLongest = 20_000;

export async function run({ random, timeLeft, begin, count }) {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(kModel, name))]));
  const server = await startFaultServer(random);
  server.serve(files, 0);
  const folder = mkdtempSync(join(tmpdir(), 'peruse-attack-'));
  Object.assign(env, { remoteHost: server.url, cacheFolder: folder });
  const script = `
    import { env, modelCache, pipeline } from '${kPackage}';
    Object.assign(env, { remoteHost: '${server.url}', cacheFolder: ${JSON.stringify(folder)} });
    console.log('here');
    for (;;) {
      const pipe = await pipeline('text-classification', 'user/model');
      await pipe.dispose();
      await modelCache.clear();
    }`;
  const load = async () => {
    const pipe = await pipeline('text-classification', 'user/model');
    const answer = JSON.stringify(await pipe('A gem of a film.'));
    await pipe.dispose();
    return answer;
  };
  try {
    const right = await load();
    for (let i = 0; timeLeft(); ++i) {
      const delay = random.below(900);
      begin(`kill ${i}, after ${delay} ms`);
      const children = Array.from({ length: 2 }, () => spawn(process.execPath, ['--input-type=module', '-e', script], kQuietly));
      await Promise.all(children.map(begun));
      await new Promise((resolve) => setTimeout(resolve, delay));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => new Promise((resolve) => child.on('exit', resolve))));
      count('kills', 2);
      const ownTime = measureOwnTime();
      if ((await load()) !== right) throw new Finding('another answer than before');
      const took = ownTime();
      if (took > kLongest) throw new Finding(`the next load took ${(took / 1000).toFixed(0)} s`);
    }
    count('files left', readdirSync(join(folder, 'v3')).length);
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function begun(child) {
  return new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code, signal) => reject(new Finding(`the process ended with ${signal ?? code}`)));
  });
}
