// Compares a command-line tool with Peruse and one with @huggingface/transformers, which read the same ONNX file (paraphrase-MiniLM-L3-v2, float32):
// node tests/bench/transformers_js.mjs [--runs 7] [--texts 200]
// Installs both into a temporary folder; requires the built package and node tools/setup/published_models.mjs. Prints a Markdown table.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { publishedModels } from '../../tools/setup/published_models.mjs';
import { root } from '../../tools/setup/root.mjs';
import { kTransformersJs } from './lib/prepare.mjs';
import { median } from './lib/statistics.mjs';

const kPeer = `@huggingface/transformers@${kTransformersJs}`;
const kTexts = [
  'The train was late again.',
  'Where can I return a jacket that I bought last week?',
  'She planted two apple trees behind the old mill, and every autumn the whole street comes to pick them.',
  'Please send the invoice for March to our office in Lyon.',
];

/** The tools. Each defines `embed`, which takes one text and returns its vector, and `dispose`. */
const kTools = {
  peruse: `
    import { pipeline } from 'peruse';
    const model = await pipeline('feature-extraction', folder, { dtype: 'fp32' });
    const embed = async (text) => (await model(text, { pooling: 'mean' })).data;
    const dispose = () => model.dispose();`,
  // The graph ends with the mean of the tokens, its output 461.
  [kPeer]: `
    import { AutoModel, AutoTokenizer, env } from '@huggingface/transformers';
    env.allowRemoteModels = false;
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const model = await AutoModel.from_pretrained(folder, { dtype: 'fp32' });
    const embed = async (text) => (await model(await tokenizer(text)))['461'].data;
    const dispose = () => model.dispose();`,
};

const kTool = (lines) => `
  const [folder, texts, count] = process.argv.slice(2);
  ${lines}
  const vectors = [];
  for (const text of JSON.parse(texts)) vectors.push([...(await embed(text))]);
  const times = [];
  for (let i = 0; i < Number(count); ++i) {
    const start = performance.now();
    await embed(JSON.parse(texts)[i % JSON.parse(texts).length]);
    times.push(performance.now() - start);
  }
  console.log(JSON.stringify({ vectors, times }));
  await dispose();`;

function bytesIn(folder) {
  const entries = readdirSync(folder, { recursive: true }).map((path) => statSync(join(folder, path)));
  return entries.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function modelFolder(place) {
  const models = publishedModels();
  if (models === undefined) throw new Error('no published models: node tools/setup/published_models.mjs');
  const folder = join(place, 'model');
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  symlinkSync(models.paraphrase, join(folder, 'onnx/model.onnx'));
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) copyFileSync(join(models.minilm, name), join(folder, name));
  const config = JSON.parse(readFileSync(join(models.minilm, 'config.json'), 'utf8'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, num_hidden_layers: 3 }));
  return folder;
}

function install(place, name, source) {
  const folder = join(place, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, 'tool.js'), kTool(kTools[source]));
  // Without the download of CUDA.
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip', ONNXRUNTIME_NODE_INSTALL_CUDA: 'skip' };
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', name === 'peruse' ? packed(place) : source], { cwd: folder, env });
  return folder;
}

function packed(place) {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', place], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  return join(place, filename);
}

function measure(folder, model, { runs, texts }) {
  const run = (some, count) => {
    const start = performance.now();
    const output = execFileSync(process.execPath, ['tool.js', model, JSON.stringify(some), String(count)], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { ...JSON.parse(output.trim().split('\n').at(-1)), took: performance.now() - start };
  };
  run(kTexts, 1); // fills the cache of the file system
  const cold = Array.from({ length: runs }, () => run(kTexts.slice(0, 1), 0).took);
  const warm = Array.from({ length: runs }, () => run(kTexts, texts));
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  return {
    megabytes: bytesIn(join(folder, 'node_modules')) / 1e6,
    packages: Object.keys(packages).length,
    cold: median(cold),
    perText: median(warm.map(({ times }) => median(times))),
    vectors: warm[0].vectors,
  };
}

function main() {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '7' }, texts: { type: 'string', default: '200' } } });
  const options = { runs: Number(values.runs), texts: Number(values.texts) };
  const place = mkdtempSync(join(tmpdir(), 'peruse-compared-'));
  try {
    const model = modelFolder(place);
    const folders = [
      ['peruse', install(place, 'peruse', 'peruse')],
      [kPeer, install(place, 'peer', kPeer)],
    ];
    const found = folders.map(([name, folder]) => ({ name, ...measure(folder, model, options) }));
    const worst = Math.min(...kTexts.map((_, i) => cosine(found[0].vectors[i], found[1].vectors[i])));
    if (worst < 0.9999) throw new Error(`the vectors differ: cosine ${worst}`);
    console.log(
      `Node ${process.version}, ${availableParallelism()} cores, median of ${options.runs} runs; smallest cosine ${worst.toFixed(6)}\n`,
    );
    console.log('| | install size | packages | start to first vector | time per text |\n|---|---|---|---|---|');
    for (const { name, megabytes, packages, cold, perText } of found) {
      console.log(`| ${name} | ${megabytes.toFixed(1)} MB | ${packages} | ${(cold / 1000).toFixed(2)} s | ${perText.toFixed(1)} ms |`);
    }
  } finally {
    rmSync(place, { recursive: true });
  }
}

main();
