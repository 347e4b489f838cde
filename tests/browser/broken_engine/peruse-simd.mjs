// An engine that loads anything and traps in its first run: what a failed CHECK in the core looks like from outside.
export default async function createBrokenEngine({ printErr }) {
  const ok = (members = {}) => JSON.stringify({ ok: true, ...members });
  const report = { architecture: 'Broken', tensors: 0, headTensors: [], extraTensors: [], weightBytes: 0 };
  class Session {
    reserve() { return 8; }
    addFile() { return ok(); }
    open() { return ok(); }
    feedWeights() { return ok(); }
    finishWeights() { return ok({ report }); }
    start() {
      printErr('CHECK failed: rows == cols');
      throw new WebAssembly.RuntimeError('unreachable');
    }
    delete() {}
  }
  return { HEAPU8: new Uint8Array(1 << 22), Session };
}
