// The event loop of the thread that computes: a worker's, or the caller's.

/** Lets waiting messages and timers run. Uses a message, because repeated timeouts take 4 ms. */
export function letEventsIn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Maximum work between turns of the event loop, in milliseconds. */
const kLongestTurn = 10;
let worked = 0;

/**
 * Records work of this thread, and runs the event loop if it adds up to kLongestTurn with earlier work. Promises alone never do, so
 * consecutive calls would block timers, sockets and signals.
 */
export async function afterWork(milliseconds: number): Promise<void> {
  worked += milliseconds;
  if (worked < kLongestTurn) return;
  worked = 0;
  await letEventsIn();
}
