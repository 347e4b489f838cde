// One part of the attack, in a process of its own: node --expose-gc child.mjs <part> <seed> <seconds>. Tells the parent what it is about to
// do, so that a crash or a hang has a name.
import { Random } from './lib/random.mjs';

const [part, seed, seconds] = process.argv.slice(2);
const until = Date.now() + Number(seconds) * 1000;
const counts = {};
const say = (message) => process.send?.(message);

const context = {
  random: new Random(Number(seed)),
  timeLeft: () => Date.now() < until,
  /** Begins a case; `name` must be enough to repeat it with the seed. */
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
