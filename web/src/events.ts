/** Runs waiting messages and timers. Waits for a message to itself, because repeated timeouts take 4 ms each. */
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

/** Maximum time of work, in milliseconds, before the event loop runs. */
const kLongestTurn = 10;
let worked = 0;

/** Records work of this thread, and runs the event loop after kLongestTurn of work. Promises alone would block timers, sockets and signals. */
export async function afterWork(milliseconds: number): Promise<void> {
  worked += milliseconds;
  if (worked < kLongestTurn) return;
  worked = 0;
  await letEventsIn();
}
