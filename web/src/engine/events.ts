// The event loop of the thread that works: a worker's, or the caller's own.

/** Lets waiting messages and timers run. A repeated timeout would wait for 4 ms; a message is not. */
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

/** Work after which the event loop gets its turn, in milliseconds. */
const kLongestTurn = 10;
let worked = 0;

/**
 * Notes that this thread has worked for so long, and lets events in where that makes kLongestTurn together with earlier work: a
 * promise alone never does, so calls that follow each other would keep timers, sockets and signals waiting.
 */
export async function afterWork(milliseconds: number): Promise<void> {
  worked += milliseconds;
  if (worked < kLongestTurn) return;
  worked = 0;
  await letEventsIn();
}
