// Runs one part: node --expose-gc child.mjs <part> <seed> <seconds>. Reports each case to the parent before it begins, so that a crash or a
// hang can be repeated.
import { Random } from './lib/random.mjs';

const [part, seed, seconds] = process.argv.slice(2);
const until = Date.now() + Number(seconds) * 1000;
const counts = {};
const say = (message) => process.send?.(message);

const context = {
  random: new Random(Number(seed)),
  timeLeft: () => Date.now() < until,
  /** Begins a case; its `name` and the seed must be enough to repeat it. */
  begin: (name) => say({ begin: name }),
  count: (what, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  },
  note: (text) => say({ note: text }),
};

for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (error) => {
    say({ finding: `${event}: ${String(error?.stack ?? error)}` });
    process.exit(1);
  });
}

const { run } = await import(`./parts/${part}.mjs`);
try {
  await run(context);
  say({ done: counts });
} catch (error) {
  say({ finding: String(error?.stack ?? error), counts });
  process.exitCode = 1;
}
process.disconnect?.();
