// Module.gpu of hosted_backend.cc: the executors of one device, by number.
export function executorsFor(device, pipelines, { GpuExecutor }) {
  const executors = new Map();
  let last = 0;
  return {
    subgroups: device.features.has('subgroups'),
    create() {
      executors.set(++last, new GpuExecutor(device, pipelines));
      return last;
    },
    dispose(id) {
      executors.get(id).dispose();
      executors.delete(id);
    },
    async replay(id, memory, address, words) {
      try {
        await executors.get(id).replay(memory, { address, words });
        return 0;
      } catch (error) {
        console.error(`${error.code ?? ''} ${error.stack}`);
        return 1;
      }
    },
  };
}
