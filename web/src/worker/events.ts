// The event loop of a worker.

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
