// A program with a worker of its own, as most programs for transformers.js have.
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });

globalThis.work = () =>
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(`${event.message} ${event.filename}:${event.lineno}`));
    worker.postMessage({ page: location.href, way: new URLSearchParams(location.search).get('way') });
  });
