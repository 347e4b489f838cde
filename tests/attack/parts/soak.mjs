// Calls of every task and length in one process, with loads between them. Answers must stay the same, and memory must not rise. Always two
// of the six models are in workers, so that their memory (11 MB each) is constant.
import { pipeline } from '../../../web/dist/index_node.js';
import { MemoryCurve, residentBytes } from '../lib/memory.mjs';
import { tinyModels } from '../lib/models.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';

const kCallsPerRound = 50; // few, so that a minute has a hundred loads or more; the garbage of 200 calls hid what loads leave
const kMostPerRound = 60_000; // bytes

export async function run({ random, timeLeft, begin, count, note }) {
  const models = tinyModels();
  const open = [];
  for (let i = 0; i < 6; ++i) open.push(await start(random.pick(models), i % 3 === 0));
  const curve = new MemoryCurve('resident', residentBytes, kMostPerRound);
  for (let round = 0; timeLeft(); ++round) {
    begin(`round ${round}`);
    for (let i = 0; i < kCallsPerRound; ++i) {
      const { pipe, model, right } = random.pick(open);
      const text = `t${random.below(40)} `.repeat(1 + random.below(40));
      if (model.task === 'text-classification' || model.task === 'token-classification') count(await outcome(pipe(text)));
      if (JSON.stringify(await model.call(pipe, {})) !== right) throw new Finding(`${model.name} answers otherwise than at first`);
      count('calls');
    }
    const place = random.below(open.length);
    const { pipe, model, worker } = open[place];
    await pipe.dispose();
    open[place] = await start(model, worker);
    await curve.round();
  }
  note(curve.check());
  for (const { pipe } of open) await pipe.dispose();
}

async function start(model, worker) {
  const pipe = await pipeline(model.task, model.files, { worker });
  return { pipe, model, worker, right: JSON.stringify(await model.call(pipe, {})) };
}
