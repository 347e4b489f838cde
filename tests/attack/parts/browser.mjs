// The same in Chromium, on an isolated page: load, call, abort, dispose, over and over. The page's memory does not rise.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromium } from 'playwright';
import { Levels, MemoryCurve } from '../lib/memory.mjs';
import { kRoot, tinyModels } from '../lib/models.mjs';
import { Finding } from '../lib/outcome.mjs';

const kChromium = process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium';
const kTypes = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };
const kMostPerRound = 100_000;
const kEnoughRounds = 150; // Of two loads each.

const kPage = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
import { pipeline } from '/web/bundle/peruse.js';
globalThis.round = async (abortAfter) => {
  const pipe = await pipeline('text-classification', new URL('/m/', location.href));
  const answer = JSON.stringify(await pipe('t1 t2 t3'));
  const texts = Array.from({ length: 100 }, (_, i) => 't' + (i % 50));
  const signal = AbortSignal.timeout(1 + abortAfter);
  const aborted = await pipe(texts, { signal }).then(() => 'ok', (error) => error.code);
  const loading = pipeline('text-classification', new URL('/m/', location.href), { signal: AbortSignal.timeout(1 + abortAfter) });
  const second = await loading.then((made) => made.dispose().then(() => 'ok'), (error) => error.code);
  await pipe.dispose();
  return { answer, codes: [aborted, second] };
};
</script>`;

export async function run({ random, timeLeft, begin, count, note }) {
  const { files } = tinyModels().find(({ name }) => name === 'deberta-v2-sequence');
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.split('?')[0]);
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const body = path === '/' ? kPage : path.startsWith('/m/') ? files[path.slice(3)] : readOwn(path);
    if (body === undefined) return void response.writeHead(404).end();
    response
      .writeHead(200, { 'content-type': kTypes[extname(path)] ?? (path === '/' ? 'text/html' : 'application/octet-stream') })
      .end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({
    executablePath: kChromium,
    args: ['--no-sandbox', '--disable-background-networking', '--js-flags=--expose-gc'],
  });
  try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => {
      throw new Finding(`the page: ${error.message}`);
    });
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction('globalThis.round');
    const session = await browser.newBrowserCDPSession();
    const curve = new MemoryCurve('Chromium', () => privateBytes(session), kMostPerRound);
    const levels = new Levels();
    let rounds = 0;
    let right;
    for (let round = 0; timeLeft(); ++round) {
      begin(`round ${round}`);
      const { answer, codes } = await page.evaluate(`round(${random.below(60)})`);
      right ??= answer;
      if (answer !== right) throw new Finding('another answer than at first');
      for (const code of codes) {
        if (!['ok', 'aborted'].includes(code)) throw new Finding(`it ended with '${code}'`);
        count(code);
      }
      await curve.round();
      await page.evaluate('gc()');
      levels.add(await privateBytes(session));
      rounds = round + 1;
    }
    note(curve.check());
    if (rounds >= kEnoughRounds && levels.rose) throw new Finding(`memory rises: ${levels}`);
    note(String(levels));
  } finally {
    await browser.close();
    server.close();
  }
}

function readOwn(path) {
  if (!/^\/web\/(bundle|dist|wasm)\/[\w./-]+$/.test(path) || path.includes('..')) return undefined;
  try {
    return readFileSync(join(kRoot, path));
  } catch {
    return undefined;
  }
}

/** Resident memory of the page's processes. */
async function privateBytes(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pages = processInfo.filter(({ type }) => type === 'renderer');
  return pages.reduce((sum, { id }) => sum + 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0), 0);
}
