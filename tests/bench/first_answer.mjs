// Measures how long the demo page takes to its first answer over a slow connection, and to the answer after a tap on the second tab:
// node tests/bench/first_answer.mjs [--mbit 9] [--rtt 170] [--isolated] [--runs 3] [--waterfall] [--site <folder>]
// Requires build/site (npm run site) and openssl. The server has HTTP/2, gzip and ten minutes of HTTP cache, as GitHub Pages.
import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright';

process.env.PW_EXPERIMENTAL_SERVICE_WORKER_NETWORK_EVENTS = '1';

const kTypes = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};
const kIsolation = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
const kChunk = 8192; // bytes of a file that are sent before other files have their turn

function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'peruse-certificate-'));
  try {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '1', '-subj', '/CN=localhost'];
    execFileSync('openssl', [...request, '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An HTTP/2 server of the site. It listens on no port: connections are given to it. */
function createSite(folder, identity, isolated) {
  const contents = new Map();
  const contentOf = (file) => {
    if (!contents.has(file)) {
      const type = kTypes[extname(file)];
      const bytes = readFileSync(file);
      contents.set(file, { type: type ?? 'application/octet-stream', body: type ? gzipSync(bytes) : bytes, gzip: type !== undefined });
    }
    return contents.get(file);
  };
  return createSecureServer(identity, (request, response) => {
    const path = request.url.replace(/[?#].*/, '').slice(1);
    const file = join(folder, path === '' ? 'index.html' : path);
    if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
    const { type, body, gzip } = contentOf(file);
    response.writeHead(200, {
      'content-type': type,
      'content-length': body.length,
      'cache-control': 'max-age=600',
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      ...(isolated ? kIsolation : {}),
    });
    const chunks = Array.from({ length: Math.ceil(body.length / kChunk) }, (_, index) =>
      body.subarray(index * kChunk, (index + 1) * kChunk),
    );
    Readable.from(chunks).pipe(response);
  });
}

/** A connection whose bytes take half a round trip each way. All connections share the line's bandwidth. */
class SlowConnection extends Duplex {
  constructor(socket, rtt, line) {
    super();
    Object.assign(this, { socket_: socket, line_: line, half_: rtt / 2 });
    socket.setNoDelay(true);
    socket.on('data', (data) => this.receive(data));
    socket.on('end', () => this.receive(null));
    socket.on('error', () => this.destroy());
  }

  receive(data) {
    this.received_ = Promise.all([this.received_, sleep(this.half_)]).then(() => this.push(data));
  }

  _read() {}

  _write(data, _, done) {
    const now = performance.now();
    this.line_.freeAt = Math.max(this.line_.freeAt, now) + data.length / this.line_.bytesPerMs;
    const wait = this.line_.freeAt - now;
    this.sent_ = Promise.all([this.sent_, sleep(wait + this.half_)]).then(() => this.socket_.destroyed || this.socket_.write(data));
    setTimeout(done, wait);
  }

  _final(done) {
    Promise.resolve(this.sent_).then(() => this.socket_.end());
    done();
  }
}

/** A port of `site` with this round trip (milliseconds) and this bandwidth (megabits per second). */
async function slowPort(site, rtt, mbit) {
  const line = { freeAt: 0, bytesPerMs: (mbit * 1e6) / 8 / 1000 };
  const port = createServer(async (socket) => {
    await sleep(rtt); // the handshake of TCP
    site.emit('connection', new SlowConnection(socket, rtt, line));
  });
  await new Promise((done) => port.listen(0, '127.0.0.1', done));
  return port;
}

function noteRequests(context, root) {
  const rows = [];
  const begun = performance.timeOrigin + performance.now();
  context.on('requestfinished', async (request) => {
    const { startTime, responseStart, responseEnd } = request.timing();
    const { responseBodySize: bytes } = await request.sizes().catch(() => ({ responseBodySize: 0 }));
    const start = startTime - begun;
    const by = request.serviceWorker() ? 'service worker' : 'page';
    rows.push({ start, wait: responseStart, end: start + responseEnd, bytes, by, file: request.url().slice(root.length) });
  });
  return rows;
}

function waterfall(rows) {
  const sorted = rows.toSorted((a, b) => a.start - b.start);
  console.table(sorted.map((row) => ({ ...row, start: Math.round(row.start), wait: Math.round(row.wait), end: Math.round(row.end) })));
}

async function visit(browser, url, withWaterfall) {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, serviceWorkers: 'allow' });
  const page = await context.newPage();
  const rows = noteRequests(context, url);
  const begun = performance.now();
  const times = {};
  const note = async (name, selector) => {
    await page.locator(selector).first().waitFor({ timeout: 60_000 });
    times[name] = Math.round(performance.now() - begun);
  };
  await page.goto(url, { waitUntil: 'commit' });
  await Promise.all([note('rules', '#redact .redacted mark'), note('answer', '#redact .timing:not(:empty)')]);
  const before = [...rows];
  await page.locator('#tab-sort').click();
  await note('tap', '#sort .timing:not(:empty)');
  const megabytes = before.reduce((sum, { bytes }) => sum + Math.max(bytes, 0), 0) / 1e6;
  if (withWaterfall) waterfall(rows);
  await context.close();
  return { ...times, tap: times.tap - times.answer, requests: before.length, megabytes: megabytes.toFixed(2) };
}

const { values: options } = parseArgs({
  options: {
    mbit: { type: 'string', default: '9' },
    rtt: { type: 'string', default: '170' },
    runs: { type: 'string', default: '3' },
    isolated: { type: 'boolean', default: false },
    waterfall: { type: 'boolean', default: false },
    site: { type: 'string', default: fileURLToPath(new URL('../../build/site/', import.meta.url)) },
  },
});
const identity = certificate();
const fingerprint = createHash('sha256').update(new X509Certificate(identity.cert).publicKey.export({ type: 'spki', format: 'der' }));
const port = await slowPort(createSite(options.site, identity, options.isolated), Number(options.rtt), Number(options.mbit));
const browser = await chromium.launch({
  executablePath: process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless=new', '--no-sandbox', `--ignore-certificate-errors-spki-list=${fingerprint.digest('base64')}`],
});
for (let run = 0; run < Number(options.runs); run++) {
  console.log(JSON.stringify(await visit(browser, `https://localhost:${port.address().port}/`, options.waterfall && run === 0)));
}
await browser.close();
process.exit();
