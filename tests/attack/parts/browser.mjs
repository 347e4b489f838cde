// Loads, calls, aborts, fails and disposes on an isolated page in Chromium. Memory must not rise, and no thread may remain.
import { openPage } from '../lib/chromium_page.mjs';
import { Levels, MemoryCurve } from '../lib/memory.mjs';
import { tinyModels } from '../lib/models.mjs';
import { Finding } from '../lib/outcome.mjs';

const kMostPerRound = 100_000;
const kEnoughRounds = 150; // of three loads each
const kEndsWithin = 120_000; // milliseconds, far more than a busy worker takes to end

const kScript = `
import { pipeline } from '/web/bundle/peruse.js';
globalThis.round = async (abortAfter) => {
  const pipe = await pipeline('text-classification', new URL('/m/', location.href), { threads: 3 });
  const answer = JSON.stringify(await pipe('t1 t2 t3'));
  const texts = Array.from({ length: 100 }, (_, i) => 't' + (i % 50));
  const signal = AbortSignal.timeout(1 + abortAfter);
  const aborted = await pipe(texts, { signal }).then(() => 'ok', (error) => error.code);
  const loading = pipeline('text-classification', new URL('/m/', location.href), { signal: AbortSignal.timeout(1 + abortAfter) });
  const second = await loading.then((made) => made.dispose().then(() => 'ok'), (error) => error.code);
  await pipe.dispose();
  const failing = pipeline('question-answering', new URL('/m/', location.href), { threads: 3 });
  const failed = await failing.then(() => 'ok', (error) => error.code);
  return { answer, codes: [aborted, second], failed };
};
globalThis.ready = true;`;

export async function run({ random, timeLeft, begin, count, note }) {
  const { files } = tinyModels().find(({ name }) => name === 'deberta-v2-sequence');
  const { page, residentBytes, workers, close } = await openPage(kScript, files, (error) => {
    throw new Finding(`the page: ${error.message}`);
  });
  try {
    const curve = new MemoryCurve('Chromium', residentBytes, kMostPerRound);
    const levels = new Levels();
    let rounds = 0;
    let right;
    for (let round = 0; timeLeft(); ++round) {
      begin(`round ${round}`);
      const { answer, codes, failed } = await page.evaluate(`round(${random.below(60)})`);
      if (failed !== 'missing_head') throw new Finding(`a load that must fail ended with '${failed}'`);
      right ??= answer;
      if (answer !== right) throw new Finding('another answer than at first');
      for (const code of codes) {
        if (!['ok', 'aborted'].includes(code)) throw new Finding(`it ended with '${code}'`);
        count(code);
      }
      await curve.round();
      await page.evaluate('gc()');
      levels.add(await residentBytes());
      rounds = round + 1;
    }
    begin('the end of the workers');
    for (const end = Date.now() + kEndsWithin; (await workers()) > 0; await new Promise((resolve) => setTimeout(resolve, 100))) {
      if (Date.now() > end) throw new Finding(`${await workers()} threads of workers are left after ${rounds} rounds`);
    }
    // Chromium's heap grows for about a hundred rounds, so fewer rounds prove nothing.
    note(rounds < kEnoughRounds ? `${rounds} rounds, too few to tell` : curve.check());
    note(String(levels));
  } finally {
    await close();
  }
}
