import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromium } from 'playwright';
import { kRoot } from './models.mjs';

const kChromium = process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium';
const kStartsWithin = 300_000; // milliseconds
const kTypes = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** Opens a page that runs the module `script`, which sets globalThis.ready, with `files` under /m/. `onError` receives uncaught errors. */
export async function openPage(script, files, onError) {
  const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">${script}</script>`;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.split('?')[0]);
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const body = path === '/' ? html : path.startsWith('/m/') ? files[path.slice(3)] : readOwn(path);
    if (body === undefined) return void response.writeHead(404).end();
    response
      .writeHead(200, { 'content-type': kTypes[extname(path)] ?? (path === '/' ? 'text/html' : 'application/octet-stream') })
      .end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({
    executablePath: kChromium,
    timeout: kStartsWithin,
    args: ['--no-sandbox', '--disable-background-networking', '--js-flags=--expose-gc'],
  });
  const close = async () => {
    await browser.close();
    server.close();
  };
  try {
    const session = await browser.newBrowserCDPSession();
    const page = await BarePage.open(session, `http://127.0.0.1:${server.address().port}/`, onError);
    while (!(await page.evaluate('globalThis.ready'))) await new Promise((resolve) => setTimeout(resolve, 50));
    return { page, residentBytes: () => residentBytes(session), workers: () => workers(session), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A page without Playwright's own pages, for which Chromium records up to 200 MB of responses, which look like a leak. */
class BarePage {
  static async open(browser, url, onError) {
    const { targetId } = await browser.send('Target.createTarget', { url });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: false });
    const page = new BarePage(browser, sessionId, onError);
    await page.send_('Runtime.enable');
    return page;
  }

  constructor(browser, sessionId, onError) {
    this.browser_ = browser;
    this.sessionId_ = sessionId;
    this.calls_ = 0;
    this.waiting_ = new Map();
    browser.on('Target.receivedMessageFromTarget', ({ sessionId: from, message }) => {
      if (from !== sessionId) return;
      const { id, method, params, result, error } = JSON.parse(message);
      if (method === 'Runtime.exceptionThrown') onError(asError(params.exceptionDetails));
      const { resolve, reject } = this.waiting_.get(id) ?? {};
      this.waiting_.delete(id);
      if (error === undefined) resolve?.(result);
      else reject?.(new Error(error.message));
    });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send_('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw asError(exceptionDetails);
    return result.value;
  }

  send_(method, params) {
    const id = ++this.calls_;
    const answer = new Promise((resolve, reject) => this.waiting_.set(id, { resolve, reject }));
    const message = JSON.stringify({ id, method, params });
    return this.browser_.send('Target.sendMessageToTarget', { sessionId: this.sessionId_, message }).then(() => answer);
  }
}

function asError({ text, exception }) {
  return new Error(exception?.description ?? text);
}

function readOwn(path) {
  if (!/^\/web\/(bundle|dist|wasm)\/[\w./-]+$/.test(path) || path.includes('..')) return undefined;
  try {
    return readFileSync(join(kRoot, path));
  } catch {
    return undefined;
  }
}

async function renderers(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

async function residentBytes(session) {
  const kilobytes = (id) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0);
  return (await renderers(session)).reduce((sum, id) => sum + 1024 * kilobytes(id), 0);
}

async function workers(session) {
  const nameOf = (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (!['ENOENT', 'ESRCH'].includes(error.code)) throw error;
      return ''; // the thread has ended meanwhile
    }
  };
  const names = (id) => readdirSync(`/proc/${id}/task`).map((task) => nameOf(`/proc/${id}/task/${task}/comm`));
  return (await renderers(session)).flatMap(names).filter((name) => name.startsWith('DedicatedWorker')).length;
}
