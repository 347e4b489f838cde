// Measures how long the demo page takes to its first answer on a phone's slow connection, and from a tap on each tab to its answer:
// node tests/bench/first_answer.mjs [--mbit 9] [--rtt 170] [--cpu 1] [--isolated] [--runs 3] [--only <tab>] [--waterfall] [--site <folder>]
// `--cpu 4` slows the page's script (not its workers) to a quarter. Taps come at the first paint, the earliest moment at which a visitor sees
// the tabs, at the first answer, and 1.5 seconds later, when the page stores the rest. A tap on Teach is one on its button, too.
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
const kQueued = 20; // milliseconds of the line's time that a connection may have queued, so that the line is never idle between two writes
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
    setTimeout(done, wait - kQueued);
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

/**
 * Runs in the page: taps on the tab at the moment (and in the Teach tab on its button), and notes when, and when the answer is there. Moments:
 * `paint`, the first at which the tabs are on the screen; `answer`, that of the first answer; or so many milliseconds after it.
 */
function tapAndWatch({ tab, moment }) {
  const times = { answers: {} };
  const isMoment = () =>
    moment === 'paint'
      ? document.querySelector('#tab-inside') && performance.getEntriesByName('first-contentful-paint').length > 0
      : performance.now() >= times.answers.redact + (Number(moment) || 0);
  const answerOf = (panel) => document.querySelector(panel === 'teach' ? '#teach .learnt:not([hidden])' : `#${panel} .timing:not(:empty)`);
  const tapOn = (selector) => {
    times.tap = performance.now();
    document.querySelector(selector).click();
  };
  const look = () => {
    for (const panel of ['redact', 'sort', 'ask', 'teach']) if (answerOf(panel)) times.answers[panel] ??= performance.now();
    if (document.querySelector('#redact .redacted mark')) times.rules ??= performance.now();
    if (times.tap === undefined && isMoment()) tapOn(`#tab-${tab}`);
    else if (tab === 'teach' && !times.hasStarted && document.querySelector('#teach .kinds textarea')) {
      times.hasStarted = true;
      tapOn('#teach [type=submit]');
    }
    requestAnimationFrame(look);
  };
  Object.assign(window, { times });
  look();
}

const kPhone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };

/** Returns milliseconds, from the start or from the tap. */
async function visit(browser, url, { tab, at, cpu, withWaterfall }) {
  const context = await browser.newContext({ ...kPhone, serviceWorkers: 'allow' });
  const page = await context.newPage();
  await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: cpu });
  const rows = noteRequests(context, url);
  await page.addInitScript(tapAndWatch, { tab: tab ?? 'redact', moment: at ?? Infinity });
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForFunction((panel) => window.times.answers[panel] !== undefined, tab ?? 'redact', { timeout: 60_000 });
  const { tap, answers, rules } = await page.evaluate(() => window.times);
  const megabytes = rows.reduce((sum, { bytes }) => sum + Math.max(bytes, 0), 0) / 1e6;
  if (withWaterfall) waterfall(rows);
  await context.close();
  if (tab === undefined) return { rules: Math.round(rules), answer: Math.round(answers.redact), megabytes: megabytes.toFixed(2) };
  return { tapped: Math.round(tap), answer: Math.round(answers[tab] - tap) };
}

const { values: options } = parseArgs({
  options: {
    mbit: { type: 'string', default: '9' },
    rtt: { type: 'string', default: '170' },
    runs: { type: 'string', default: '3' },
    cpu: { type: 'string', default: '1' },
    only: { type: 'string' },
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
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const kTaps = [
  ...['redact', 'sort', 'ask', 'teach'].map((tab) => ({ tab, at: 'paint' })),
  ...['sort', 'ask', 'teach'].map((tab) => ({ tab, at: 'answer' })),
  ...['sort', 'ask', 'teach'].map((tab) => ({ tab, at: '1500' })),
];
const chosen = [{}, ...kTaps].filter(({ tab }) => options.only === undefined || tab === options.only);
const url = `https://localhost:${port.address().port}/`;
for (const one of chosen) {
  const results = [];
  for (let run = 0; run < Number(options.runs); run++) {
    const withWaterfall = options.waterfall && run === 0;
    results.push(await visit(browser, url, { ...one, cpu: Number(options.cpu), withWaterfall }));
  }
  const answers = results.map(({ answer }) => answer);
  const about = one.tab === undefined ? results[0] : { ...one, tapped: results[0].tapped };
  console.log(JSON.stringify({ ...about, answer: median(answers), of: answers }));
}
await browser.close();
process.exit();
