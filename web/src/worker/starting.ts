/** The engines of a host that are still starting. */
export class Starting {
  private readonly promises_ = new Set<Promise<unknown>>();

  add<T>(promise: Promise<T>): Promise<T> {
    this.promises_.add(promise);
    const forget = () => this.promises_.delete(promise);
    promise.then(forget, forget);
    return promise;
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.promises_);
  }
}
