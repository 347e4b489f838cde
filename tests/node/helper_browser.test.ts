import { beforeEach, expect, test, vi } from 'vitest';

class FakeWorker {
  static readonly made: FakeWorker[] = [];
  onmessage?: (event: { data: unknown }) => void;
  terminate = vi.fn();
  postMessage = vi.fn();

  constructor() {
    FakeWorker.made.push(this);
  }
}

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('location', { href: 'https://example.org/peruse-worker.js' });
  FakeWorker.made.length = 0;
  return () => vi.unstubAllGlobals();
});

const settled = () => new Promise((resolve) => setTimeout(resolve));

test('a worker that ends waits until its threads have started, also those that an engine has taken', async () => {
  const { endHelpers, prepareHelpers, startHelper } = await import('../../web/src/engine/helper_browser.js');
  prepareHelpers(2);
  startHelper();
  let ended = false;
  const ending = endHelpers().then(() => {
    ended = true;
  });
  await settled();
  const [taken, prepared] = FakeWorker.made;
  expect(taken!.terminate).not.toHaveBeenCalled();
  prepared!.onmessage!({ data: { kind: 'here' } });
  await settled();
  expect(prepared!.terminate).toHaveBeenCalled();
  expect(ended).toBe(false);
  taken!.onmessage!({ data: { kind: 'here' } });
  await ending;
  expect(taken!.terminate).toHaveBeenCalled();
});

test('a worker that ends starts no thread for an engine that is still starting', async () => {
  const { endHelpers, startHelper } = await import('../../web/src/engine/helper_browser.js');
  await endHelpers();
  expect(() => startHelper()).toThrow('is ending');
  expect(FakeWorker.made).toEqual([]);
});

test('threads that an engine does not need end, and later ones can still start', async () => {
  const { dropHelpers, prepareHelpers, startHelper } = await import('../../web/src/engine/helper_browser.js');
  prepareHelpers(1);
  FakeWorker.made[0]!.onmessage!({ data: { kind: 'here' } });
  await dropHelpers();
  expect(FakeWorker.made[0]!.terminate).toHaveBeenCalled();
  startHelper();
  expect(FakeWorker.made).toHaveLength(2);
});
