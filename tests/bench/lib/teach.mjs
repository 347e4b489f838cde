import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../tools/setup/root.mjs';
import { buildProgram, modelOf } from './prepare.mjs';

const kRounds = 3;
const kBatches = [
  [32, 16],
  [128, 8],
];

function run(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args.map(String), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
  return JSON.parse(stdout);
}

/** Compares a training step with a forward pass of ConvBERT-small's shape, in turns; takes the minimum, because machines are shared. */
export async function measureSteps() {
  const native = await buildProgram('train_bench');
  const wasm = await buildProgram('train_bench', 'simd');
  const threaded = await buildProgram('train_bench', 'simd-threads');
  const python = process.env.PERUSE_BENCH_PYTHON;
  const subjects = {
    native: (batch) => run(native, batch),
    'native, two threads': (batch) => run(native, [...batch, 2]),
    wasm: (batch) => run(process.execPath, [wasm, ...batch]),
    'wasm, two threads': (batch) => run(process.execPath, [threaded, ...batch, 2]),
    ...(python && { PyTorch: (batch) => run(python, [join(root, 'tests/bench/export/train_torch.py'), ...batch]) }),
  };
  console.log(
    '\n| texts x tokens | | forward ms | step ms | step / forward | step / PyTorch | planned MB |\n|---|---|---|---|---|---|---|',
  );
  for (const batch of kBatches) {
    const rounds = Array.from({ length: kRounds }, () => Object.entries(subjects).map(([name, measure]) => [name, measure(batch)]));
    const found = rounds.map((round) => Object.fromEntries(round));
    const least = (name, key) => Math.min(...found.map((round) => round[name][key]));
    for (const name of Object.keys(subjects)) {
      const [forward, step] = [least(name, 'forward'), least(name, 'step')];
      const beside = python ? (step / least('PyTorch', 'step')).toFixed(2) : '';
      const cells = [forward.toFixed(0), step.toFixed(0), (step / forward).toFixed(2), beside];
      console.log(`| ${batch[1]} x ${batch[0]} | ${name} | ${cells.join(' | ')} | ${found[0][name].megabytes ?? ''} |`);
    }
  }
}

function* examples() {
  for (let i = 0; i < 128; ++i) {
    const words = Array.from({ length: 30 }, (_, t) => `t${10 + ((i * 977 + t * 131 + (i % 2) * 7) % 4000)}`);
    yield { text: words.join(' '), label: i % 2 === 0 ? 'a' : 'b' };
  }
}

/** Times training by the package's teach(): ConvBERT-small's shape, three epochs, with one thread and with two. */
export async function measureLessons() {
  const { teach } = await import('../../../web/dist/teach/index_node.js');
  const model = await modelOf('convbert_small');
  const { vocab_size: size } = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
  const vocab = Object.fromEntries(Array.from({ length: size }, (_, id) => [`t${id}`, id]));
  const folder = mkdtempSync(join(tmpdir(), 'peruse-lessons-'));
  const tokenizer = {
    version: '1.0',
    added_tokens: [],
    pre_tokenizer: { type: 'WhitespaceSplit' },
    model: { type: 'WordPiece', unk_token: 't0', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
  };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  const files = Object.fromEntries(
    [join(model, 'config.json'), join(folder, 'tokenizer.json'), join(model, 'model.safetensors')].map((path) => [
      path.split('/').at(-1),
      new Blob([readFileSync(path)]),
    ]),
  );
  console.log('\n| method | threads | seconds | planned MB | heap MB |\n|---|---|---|---|---|');
  for (const method of ['head', { layers: 2 }, 'lora', 'full']) {
    for (const threads of [1, 2]) {
      const { report } = await teach('text-classification', files, [...examples()], { method, epochs: 3, labels: ['a', 'b'], threads });
      const { planned_bytes: planned, heap_bytes: heap } = report.memory;
      const cells = [report.milliseconds.teaching / 1e3, planned / 1e6, heap / 1e6].map((value) => value.toFixed(1));
      console.log(`| ${JSON.stringify(method)} | ${threads} | ${cells.join(' | ')} |`);
    }
  }
  rmSync(folder, { recursive: true });
}

export async function measureTeaching() {
  await measureSteps();
  await measureLessons();
}
