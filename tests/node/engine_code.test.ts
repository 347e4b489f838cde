// What the compiler made of the engines: hot files compute with vectors (cmake/hot_files.cmake), and nothing links C's text of floats (128-bit arithmetic) or streams.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { functionsOf, isVectorArithmetic, opcodesOf, type WasmFunction } from './support/wasm_code.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));

interface HotFile {
  file: string;
  bench: string;
  /** Patterns of its functions' names in an engine; empty if the file's loops have no vectors. */
  vectors: string[];
}

function hotFiles(): HotFile[] {
  const list = readFileSync(`${kRoot}cmake/hot_files.cmake`, 'utf8');
  return [...list.matchAll(/^ {2}"(\S+) \| ([^|"]+?)(?: \| ([^"]+))?"$/gm)].map(([, file, bench, vectors]) => ({
    file: file!,
    bench: bench!,
    vectors: vectors?.split(', ') ?? [],
  }));
}

function engine(variant: string): WasmFunction[] {
  const functions = functionsOf(
    readFileSync(`${kRoot}web/wasm/peruse-${variant}.wasm`),
    readFileSync(`${kRoot}web/wasm/peruse-${variant}.symbols`, 'utf8'),
  );
  expect(functions.length).toBeGreaterThan(100);
  expect(functions.filter(({ name }) => name === '').length, 'functions without a name').toBeLessThan(functions.length / 20);
  return functions;
}

const kAbsent =
  /\b(strto(d|f|ld)|__floatscan|fmt_fp|__(add|sub|mul|div)tf3|__extend[sd]ftf2|__trunctf[sd]f2)\b|basic_[io]?stream|std::__2::locale/;

/** What core/base/elementary.h and core/base/sort.h replace, and hash tables: their code and tables take 13 KiB after brotli. */
const kReplaced = /^(exp|expm1|log|pow|sin|cos|tanh|erf|__rem_pio2\w*)$|::__(introsort|stable_sort|hash_table)\b/;

describe.each(['simd', 'relaxed-threads'])('the engine %s', (variant) => {
  test('has vector arithmetic in its hot files', () => {
    const functions = engine(variant);
    const patterns = hotFiles().flatMap(({ file, vectors }) => vectors.map((pattern) => ({ file, pattern })));
    expect(patterns.length).toBeGreaterThan(12);
    const plain = patterns.filter(({ pattern }) => {
      const own = functions.filter(({ name }) => new RegExp(pattern).test(name));
      return !own.some(({ bytes }) => opcodesOf(bytes).some(isVectorArithmetic));
    });
    expect(plain).toEqual([]);
  });

  test("links neither C's conversions of floats, streams, nor what Peruse has in less code", () => {
    expect(
      engine(variant)
        .filter(({ name }) => kAbsent.test(name) || kReplaced.test(name))
        .map(({ name }) => name),
    ).toEqual([]);
  });
});

test.each(['tokenizer', 'webgpu'])("the module %s links neither C's conversions of floats nor streams", (variant) => {
  expect(
    engine(variant)
      .filter(({ name }) => kAbsent.test(name))
      .map(({ name }) => name),
  ).toEqual([]);
});

test('the engine for a GPU does not link the backend for the CPU', () => {
  const linked = engine('webgpu').filter(({ name }) =>
    /\b(xnn_|peruse::cpu::(\(anonymous namespace\)::)?Run\w*[<(]|CpuBackend::)/.test(name),
  );
  expect(linked.map(({ name }) => name)).toEqual([]);
});

// Folders by their namespaces. Printed for a reader; tests in tests/packaging limit the sum. The same code can take 130 bytes more: functions that
// call others contain their numbers, which any change of the core may shift.
test('sizes of the parts of an engine', () => {
  const parts: [string, RegExp][] = [
    ['XNNPACK and kernels', /xnn_|peruse::cpu::/],
    ['text', /peruse::text::/],
    ['weights', /peruse::(pytorch::|Lora|Checkpoint|Weights|Safetensors|Parameter|Float|LowRank|Row|Shard|TensorNames|Misfits)/],
    [
      'tasks',
      /peruse::(.*Task|Schema|Entity|Label|.*Classification|.*Answering|Pooling|Sentence|VectorIndex|Inspector|FillMask|Structured)/,
    ],
    ['other parts of the core', /peruse::/],
    ['libraries', /.*/],
  ];
  const sizes = new Map(parts.map(([part]) => [part, [] as Uint8Array[]]));
  for (const { name, bytes } of engine('simd')) sizes.get(parts.find(([, names]) => names.test(name))![0])!.push(bytes);
  const rows = [...sizes].map(([part, bodies]) => {
    const all = Buffer.concat(bodies);
    return { part, functions: bodies.length, bytes: all.length, brotli: brotliCompressSync(all).length };
  });
  console.log(
    rows.map(({ part, functions, bytes, brotli }) => `${part}: ${functions} functions, ${bytes} bytes, ${brotli} after brotli`).join('\n'),
  );
  const limits: Record<string, number> = JSON.parse(readFileSync(new URL('engine_sizes.json', import.meta.url), 'utf8'));
  expect(Object.keys(limits)).toEqual(parts.map(([part]) => part));
  for (const { part, brotli } of rows) expect(brotli, part).toBeLessThanOrEqual(limits[part]!);
});
