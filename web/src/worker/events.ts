// The event loop of a worker: letting it turn, and ending it.

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

/** What the threads that a worker has ended take to be gone, with much to spare, in milliseconds. */
const kFarewell = 500;

/** Ends the worker in which this runs. In Chromium nested workers that were just ended stay when their parent ends at once. */
export function closeLater(scope: { close(): void }): void {
  setTimeout(() => scope.close(), kFarewell);
}
