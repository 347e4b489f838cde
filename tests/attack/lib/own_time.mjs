// Time that counts against this process: computing time, and idle time. Time that other programs took does not count.

const kTick = 250; // milliseconds
/** Milliseconds of computing per tick below which a process counts as idle. */
const kIdle = 5;

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

function milliseconds({ user, system }) {
  return (user + system) / 1000;
}
