import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const kTypes = {
  '.html': 'text/html',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

const kPage = `<!doctype html><title>bench</title><script>
const workers = [];
window.startWorker = () => workers.push({ worker: new Worker('/bench/lib/worker.mjs', { type: 'module' }), next: 1 }) - 1;
window.askWorker = (key, verb, request) => new Promise((resolve, reject) => {
  const { worker } = workers[key];
  worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data.answer);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage({ id: 1, verb, request });
});
window.endWorker = (key) => workers[key].worker.terminate();
</script>`;

function serveFolders(folders) {
  const server = createServer((request, response) => {
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    if (path === '/') return response.setHeader('Content-Type', 'text/html').end(kPage);
    const [prefix, folder] = Object.entries(folders).find(([name]) => path.startsWith(name)) ?? [];
    const file = folder && join(folder, path.slice(prefix.length));
    if (!file || !existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    response.setHeader('Content-Type', kTypes[extname(file)] ?? 'application/octet-stream');
    response.setHeader('Content-Length', statSync(file).size);
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }));
  });
}

export async function openPage(chromiumPath, folders, flags = []) {
  const { chromium } = await import('playwright');
  const server = await serveFolders(folders);
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
  const page = await browser.newPage();
  await page.goto(server.url);
  return {
    page,
    url: server.url,
    version: browser.version(),
    close: async () => {
      await browser.close();
      server.close();
    },
  };
}
