#!/usr/bin/env node
// Holds Peruse to transformers on random checkpoints of base size, at every hidden state. Not part of `npm test`: it takes some
// minutes and 1 GB. Needs `npm run build` and a Python with tests/reference/requirements.txt.
//   node tests/reference/compare_base_models.mjs [--python PATH] [--models a,b] [--dtype fp32] [--variant auto] [--write]
// For each model make_base_model.py writes a checkpoint to a temporary folder, which is then loaded as a caller would and
// looked into (inspect()). A difference is |ours - theirs| / max(1, |theirs|), the worst over all cells. --write puts the models'
// rows into the table of docs/internals/base-size-accuracy.md. Exit code 1 when a difference exceeds 1e-4 in fp32.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pipeline } from '../../web/dist/index_node.js';

const kHere = dirname(fileURLToPath(import.meta.url));
const kTable = join(kHere, '../../docs/internals/base-size-accuracy.md');
const kBound = 1e-4;

function python(program, args) {
  const result = spawnSync(program, [join(kHere, 'make_base_model.py'), ...args], { encoding: 'utf8', maxBuffer: 1 << 24 });
  if (result.status !== 0)
    throw new Error(`${program} make_base_model.py ${args.join(' ')} failed: ${result.error?.message ?? result.stderr}`);
  return result.stdout;
}

function readTensors(path) {
  const file = readFileSync(path);
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length).toString());
  const tensors = new Map();
  for (const [
    name,
    {
      dtype,
      data_offsets: [start, end],
    },
  ] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const bytes = Uint8Array.from(file.subarray(8 + length + start, 8 + length + end)).buffer;
    tensors.set(name, dtype === 'I32' ? new Int32Array(bytes) : new Float32Array(bytes));
  }
  return tensors;
}

function worstOf(ours, theirs) {
  if (ours.length !== theirs.length) return NaN;
  let worst = 0;
  for (let i = 0; i < ours.length; ++i) {
    const difference = Math.abs(ours[i] - theirs[i]) / Math.max(1, Math.abs(theirs[i]));
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

async function compare(folder, options) {
  const expected = readTensors(join(folder, 'expected.safetensors'));
  const extract = await pipeline('feature-extraction', folder, options);
  const worst = [];
  for (let text = 0; expected.has(`${text}.input_ids`); ++text) {
    const ids = expected.get(`${text}.input_ids`);
    const { hidden_states: states } = await extract.inspect(Array.from(ids, (id) => `t${id}`).join(' '), { output_hidden_states: true });
    if (!expected.has(`${text}.hidden_states.${states.length - 1}`) || expected.has(`${text}.hidden_states.${states.length}`)) {
      throw new Error(`${states.length} hidden states are not as many as the reference has`);
    }
    states.forEach(({ data }, layer) => {
      const difference = worstOf(data, expected.get(`${text}.hidden_states.${layer}`));
      if (!(difference <= (worst[layer] ?? 0))) worst[layer] = difference;
      worst[layer] ??= 0;
    });
  }
  const { variant } = extract.info;
  await extract.dispose();
  return { worst, variant };
}

/** Table rows for these results and for the models that are only in the page. */
function tableRows(results, models) {
  const rows = new Map();
  const page = existsSync(kTable) ? readFileSync(kTable, 'utf8') : '';
  for (const [row, name] of page.matchAll(/^\| `([^`]+)` \|.*$/gm)) rows.set(name, row);
  for (const { name, worst } of results) {
    const digits = [worst[0], worst[Math.floor(worst.length / 2)], worst.at(-1), Math.max(...worst)].map((value) => value.toExponential(1));
    rows.set(name, `| \`${name}\` | ${worst.length} | ${digits.join(' | ')} |`);
  }
  return models.filter((name) => rows.has(name)).map((name) => rows.get(name));
}

function table(results, versions, dtype) {
  return `# Accuracy at base size

Made by \`node tests/reference/compare_base_models.mjs --write\`: random checkpoints of twelve layers and the published widths, compared with
transformers ${versions.transformers} (torch ${versions.torch}) at every hidden state, over texts of 7, 64 and 200 tokens. The worst cell's
|ours - theirs| / max(1, |theirs|); weights ${dtype}, build ${results[0].variant}. The bound is ${kBound}.

| model | hidden states | embeddings | in the middle | last | worst of all |
|---|---|---|---|---|---|
${tableRows(results, versions.models).join('\n')}
`;
}

async function main() {
  const { values } = parseArgs({
    options: {
      python: { type: 'string', default: 'python3' },
      models: { type: 'string' },
      dtype: { type: 'string', default: 'fp32' },
      variant: { type: 'string', default: 'auto' },
      write: { type: 'boolean', default: false },
    },
  });
  const versions = JSON.parse(python(values.python, ['--list']));
  const results = [];
  for (const name of values.models?.split(',') ?? versions.models) {
    const folder = mkdtempSync(join(tmpdir(), 'peruse-base-'));
    try {
      python(values.python, [name, folder]);
      const result = { name, ...(await compare(folder, { dtype: values.dtype, variant: values.variant })) };
      results.push(result);
      if (values.write) writeFileSync(kTable, table(results, versions, values.dtype));
      console.log(`${name} (${result.variant}): ${result.worst.map((value) => value.toExponential(1)).join(' ')}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  if (values.dtype === 'fp32' && !results.every(({ worst }) => worst.every((value) => value <= kBound))) process.exitCode = 1;
}

await main();
