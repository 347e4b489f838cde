// A page whose service worker uses the package, with options from the page's address.
globalThis.work = async () => {
  await navigator.serviceWorker.register('./service_worker.js', { type: 'module' });
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => { port1.onmessage = ({ data }) => resolve(data); });
  active.postMessage(Object.fromEntries(new URLSearchParams(location.search)), [port2]);
  return answer;
};
