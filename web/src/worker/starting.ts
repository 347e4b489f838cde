/** The engines of a host that are still starting. */
export class Starting {
  readonly #promises = new Set<Promise<unknown>>();

  add<T>(promise: Promise<T>): Promise<T> {
    this.#promises.add(promise);
    const forget = () => this.#promises.delete(promise);
    promise.then(forget, forget);
    return promise;
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#promises);
  }
}
