// What subjects in workers share, in Node and in pages.

export const inNode = typeof process === 'object';

/** Processor time of this thread; zero where the runtime does not tell. */
export function threadSeconds() {
  if (!inNode || !process.threadCpuUsage) return 0;
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1e-6;
}

export async function wholeFile(name) {
  if (!inNode) return new Uint8Array(await (await fetch(name)).arrayBuffer());
  const { readFileSync } = await import('node:fs');
  return new Uint8Array(readFileSync(name));
}

/** Calls `run` a number of times. Returns the mean times of one call, and what the last returned. */
export async function timeCalls(calls, run) {
  const start = performance.now();
  const threadStart = threadSeconds();
  let outputs;
  for (let i = 0; i < calls; ++i) outputs = await run();
  const seconds = (performance.now() - start) / 1000 / calls;
  return { outputs, times: { seconds, threadSeconds: (threadSeconds() - threadStart) / calls } };
}
