// Aborts or disposes of loads and calls at random moments, in every build, with and without workers. Memory must not rise.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pipeline } from '../../../web/dist/index_node.js';
import { patience } from '../../../web/dist/patience.js';
import { MemoryCurve, residentBytes } from '../lib/memory.mjs';
import { kRoot, tinyModels } from '../lib/models.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';

const kMostPerRound = 60_000; // bytes; a leaked engine is 6 MB
// Memory rises in steps of 9 MB until it is level: 83 MB after 25 rounds, 114 MB after 145, 116 MB after 726.
const kMostInAll = 30_000_000; // bytes
const kRests = 400; // milliseconds that an idle worker lives
const kHasGone = 1200; // milliseconds after which idle workers (11 MB each) have ended
const kOurs = ['ok', 'aborted', 'disposed'];

export async function run({ random, timeLeft, begin, count, note }) {
  const variants = ['simd', 'simd-threads'].filter((name) => existsSync(join(kRoot, `web/wasm/peruse-${name}.wasm`)));
  const { files, task } = tinyModels().find(({ name }) => name === 'deberta-v2-sequence');
  const texts = Array.from({ length: 200 }, (_, i) => `t${i % 50} t1 t2 t3`);
  patience.worker = kRests;
  const curve = new MemoryCurve('resident', () => wait(kHasGone).then(residentBytes), kMostPerRound, kMostInAll);
  // If memory seems to rise when time is up, three times as many rounds decide: a leak goes on.
  let most = Infinity;
  for (let round = 0; round < most; ++round) {
    if (most === Infinity && !timeLeft()) {
      if (!curve.rises) break;
      most = 3 * round;
    }
    for (const variant of variants) {
      for (const worker of [false, true]) {
        const options = { variant, worker, ...(variant.endsWith('threads') ? { threads: 2 } : {}) };
        begin(`round ${round}, ${variant}, worker ${worker}: load`);
        const stop = new AbortController();
        if (random.chance(0.5)) setTimeout(() => stop.abort(), random.below(150));
        let pipe;
        const loading = pipeline(task, files, { ...options, signal: stop.signal }).then((made) => {
          pipe = made;
        });
        check(await outcome(loading));
        count('loads');
        if (pipe === undefined) continue;
        for (let i = 0; i < 3; ++i) {
          begin(`round ${round}, ${variant}, worker ${worker}: call ${i}`);
          const signal = AbortSignal.timeout(1 + random.below(40));
          check(await outcome(pipe(texts, { signal })));
          check(await outcome(pipe('t1')), ['ok']);
          count('calls', 2);
        }
        const calls = Promise.all([outcome(pipe(texts)), outcome(pipe.inspect('t1 t2', { output_attentions: true }))]);
        if (random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, random.below(10)));
        await pipe.dispose();
        for (const code of await calls) check(code);
        check(await outcome(pipe('t1')), ['disposed']);
      }
    }
    await curve.round();
  }
  note(curve.check());
}

function check(code, allowed = kOurs) {
  if (!allowed.includes(code)) throw new Finding(`it ended with '${code}'`);
}
