// Time that counts against this process: what it computed, and what it waited while it had nothing to compute. What other programs took from
// it does not count: on a machine that is busy elsewhere all takes longer, and nothing is wrong.

const kTick = 250; // Milliseconds.
/** Milliseconds per tick: a waiting process uses less; a computing one gets more on any machine. */
const kIdle = 5;

/** Begins to measure; what is given ends it, and says how many milliseconds it was. */
export function measureOwnTime() {
  const start = process.cpuUsage();
  let last = start;
  let idle = 0;
  const timer = setInterval(() => {
    if (milliseconds(process.cpuUsage(last)) < kIdle) idle += kTick;
    last = process.cpuUsage();
  }, kTick);
  timer.unref();
  return () => {
    clearInterval(timer);
    return idle + milliseconds(process.cpuUsage(start));
  };
}

/** Total of all threads. */
function milliseconds({ user, system }) {
  return (user + system) / 1000;
}
