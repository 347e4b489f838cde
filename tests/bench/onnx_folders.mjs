#!/usr/bin/env node
// Compares Peruse with transformers.js (onnxruntime-web, WebAssembly, one thread) in Chromium, on the same folders with 8-bit ONNX files:
// bytes to download, time and processor time to the first answer, time per text, memory, and the largest difference to the file's results with
// float activations. Processor time hardly depends on what else the machine does.
//   node tests/bench/onnx_folders.mjs [--rounds 3] [--only minilm-embedder,...] [--json file] [--peer checkout --peer-python python]
// With --peer, transformers.js's own scripts make the ONNX files (export/run_peer_scripts.py says which checkout and Python).
// Needs web/bundle (npm run build:ts), npm's registry, and a Python with torch, transformers, onnx and onnxruntime (PERUSE_BENCH_PYTHON, or
// installed on the first run). Makes the folders on the first run.
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { cacheDir, readEnvironment } from '../../tools/setup/cache.mjs';
import { publishedModels } from '../../tools/setup/published_models.mjs';
import { root } from '../../tools/setup/root.mjs';
import { kTransformersJs, pythonEnvironment } from './lib/prepare.mjs';
import { median } from './lib/statistics.mjs';

const kFolder = join(cacheDir, 'bench/transformers.js', kTransformersJs);
const kTasks = {
  'minilm-embedder': 'feature-extraction',
  'distilbert-classifier': 'text-classification',
  'deberta-v3-small-classifier': 'text-classification',
  'xlm-roberta-token': 'token-classification',
};
const kTypes = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json' };

const kPage = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
const subjects = {
  async peruse(task, model) {
    const { env, pipeline } = await import('/peruse/peruse.js');
    env.cache = false;
    const run = await pipeline(task, new URL('/models/' + model + '/', location.href), { dtype: 'q8', weights: 'onnx', threads: 1, variant: 'auto', device: 'cpu' });
    const options = task === 'feature-extraction' ? { pooling: 'mean', normalize: true } : task === 'text-classification' ? { top_k: null } : {};
    return {
      run: (text) => run(text, options),
      raw: async (text) => [...(task === 'feature-extraction' ? await run(text, options) : (await run.inspect(text, { output_logits: true })).logits).data],
    };
  },
  async peer(task, model) {
    const { env, pipeline } = await import('/peer/@huggingface/transformers/dist/transformers.min.js');
    Object.assign(env, { allowLocalModels: false, remoteHost: location.origin, remotePathTemplate: 'models/{model}/', useBrowserCache: false });
    if ('useWasmCache' in env) env.useWasmCache = false;
    Object.assign(env.backends.onnx.wasm, { wasmPaths: location.origin + '/peer/onnxruntime-web/dist/', numThreads: 1 });
    const run = await pipeline(task, model, { dtype: 'q8', device: 'wasm' });
    const options = task === 'feature-extraction' ? { pooling: 'mean', normalize: true } : task === 'text-classification' ? { top_k: null } : {};
    return {
      run: (text) => run(text, options),
      raw: async (text) => {
        if (task === 'feature-extraction') return [...(await run(text, options)).data];
        return [...(await run.model(await run.tokenizer([text]))).logits.data];
      },
    };
  },
};
window.start = async (subject, task, model, text) => {
  const begin = performance.now();
  window.subject = await subjects[subject](task, model);
  await window.subject.run(text);
  return performance.now() - begin;
};
window.time = async (texts) => {
  const times = [];
  for (const text of texts) {
    const begin = performance.now();
    await window.subject.run(text);
    times.push(performance.now() - begin);
  }
  return times.reduce((a, b) => a + b) / times.length;
};
window.raw = async (texts) => {
  const all = [];
  for (const text of texts) all.push(await window.subject.raw(text));
  return all;
};
window.ready = true;
</script>`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    json: { type: 'string' },
    peer: { type: 'string' },
    'peer-python': { type: 'string' },
  },
});
const kModels = join(cacheDir, `bench/models/onnx-folders${values.peer ? '-peer' : ''}`);

function serve() {
  const folders = { '/peruse/': join(root, 'web/bundle'), '/peer/': join(kFolder, 'node_modules'), '/models/': kModels };
  const sent = { scripts: 0, model: 0 };
  const server = createServer((request, response) => {
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    if (path === '/') return void response.setHeader('Content-Type', 'text/html').end(kPage);
    const [prefix, folder] = Object.entries(folders).find(([name]) => path.startsWith(name)) ?? [];
    const file = folder && join(folder, path.slice(prefix.length));
    if (!file || !existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
    const { size } = statSync(file);
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const [start, end] = first === undefined ? [0, size - 1] : [Number(first), last ? Math.min(Number(last), size - 1) : size - 1];
    response.writeHead(first === undefined ? 200 : 206, {
      'Content-Type': kTypes[extname(file)] ?? 'application/octet-stream',
      'Content-Length': end - start + 1,
      ...(first === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    });
    if (request.method === 'HEAD') return void response.end();
    const body = createReadStream(file, { start, end });
    body.on('data', (chunk) => {
      sent[prefix === '/models/' ? 'model' : 'scripts'] += chunk.length;
    });
    request.on('close', () => body.destroy());
    body.pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}/`, sent, close: () => server.close() }));
  });
}

/** The largest memory that a renderer has ever had, in bytes. */
async function peakBytes(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const peaks = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => {
      const status = existsSync(`/proc/${id}/status`) ? readFileSync(`/proc/${id}/status`, 'utf8') : '';
      return 1024 * Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0);
    });
  return Math.max(...peaks);
}

/** Processor time of all renderers so far, in seconds. */
async function processorSeconds(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

async function measure(subject, name, { texts, results }) {
  const server = await serve();
  const browser = await chromium.launch({
    executablePath: readEnvironment().chromium.path,
    args: ['--headless=new', '--no-sandbox', '--disable-background-networking'],
  });
  try {
    const session = await browser.newBrowserCDPSession();
    const page = await browser.newPage();
    page.setDefaultTimeout(600_000);
    await page.goto(server.url);
    await page.waitForFunction(() => window.ready);
    const before = await processorSeconds(session);
    const first = await page.evaluate(([...given]) => window.start(...given), [subject, kTasks[name], name, texts[0]]);
    const processor = (await processorSeconds(session)) - before;
    const download = { ...server.sent };
    await page.evaluate((some) => window.time(some), texts.slice(0, 3));
    const perText = await page.evaluate((all) => window.time(all), texts);
    const raw = await page.evaluate((all) => window.raw(all), texts);
    const difference = Math.max(...raw.flatMap((row, i) => row.map((value, k) => Math.abs(value - results[i][k]))));
    if (raw.some((row, i) => row.length !== results[i].length)) throw new Error(`${subject} gives other sizes for ${name}`);
    return { first, processor, perText, difference, memory: await peakBytes(session), ...download };
  } finally {
    await browser.close();
    server.close();
  }
}

function prepare(names) {
  if (!existsSync(join(kFolder, 'node_modules/@huggingface/transformers'))) {
    mkdirSync(kFolder, { recursive: true });
    writeFileSync(join(kFolder, 'package.json'), '{}');
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...options, `@huggingface/transformers@${kTransformersJs}`], { cwd: kFolder, stdio: 'inherit' });
  }
  const missing = names.filter((name) => !existsSync(join(kModels, name, 'reference.json')));
  return missing;
}

const names = values.only?.split(',') ?? Object.keys(kTasks);
const missing = prepare(names);
if (missing.length > 0) {
  const script = join(root, 'tests/bench/export/export_onnx_folders.py');
  const peer = values.peer ? ['--peer', values.peer, ...(values['peer-python'] ? ['--peer-python', values['peer-python']] : [])] : [];
  const args = ['-W', 'ignore', script, publishedModels().minilm, kModels, ...missing, ...peer];
  execFileSync(await pythonEnvironment(), args, { stdio: 'inherit' });
}
const rows = [];
for (const name of names) {
  const reference = JSON.parse(readFileSync(join(kModels, name, 'reference.json'), 'utf8'));
  const rounds = { peruse: [], peer: [] };
  for (let round = 0; round < Number(values.rounds); ++round) {
    for (const subject of ['peer', 'peruse']) rounds[subject].push(await measure(subject, name, reference));
  }
  for (const [subject, found] of Object.entries(rounds)) {
    const row = Object.fromEntries(Object.keys(found[0]).map((key) => [key, median(found.map((one) => one[key]))]));
    rows.push({ name, subject, ...row });
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    console.log(
      `| ${name} | ${subject === 'peer' ? `transformers.js ${kTransformersJs}` : 'Peruse'} | ${megabytes(row.model)} | ${megabytes(row.scripts)} | ` +
        `${(row.first / 1000).toFixed(2)} | ${row.processor.toFixed(2)} | ${row.perText.toFixed(1)} | ${megabytes(row.memory)} | ${row.difference.toPrecision(2)} |`,
    );
  }
}
if (values.json) writeFileSync(values.json, JSON.stringify(rows, null, 1));
