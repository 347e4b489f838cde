// Lists the test suites in the order in which they run. Long repetitions and searches are last, so that --minutes leaves them out first. A row:
//   name        for --only and in reports
//   tier        'fast': part of `npm test`; 'all': only part of `npm run test:all`
//   covers      what the suite tests, in one line
//   why         (tier 'all') why the suite is not in the fast tier; for work that another suite does too, the reason to do it twice
//   builds      what must be built first (builds.mjs)
//   reads       path prefixes: a change to such a path can change the suite's result (--changed)
//   during      a suite that runs at the same time, if it runs; for suites that use less than two processors
//   processor   usual processor time in seconds, on two cores of a server of 2020 or later (--list, --check-times)
// and how it runs, one of:
//   googletest  a GoogleTest program; filter: GoogleTest's filter
//   vitest      projects of vitest.config.ts; files: only these; names: only tests whose full name matches; within: a program that
//               runs Vitest
//   command     any program: one test by its exit status, or several if its last line is "<n> passed, <n> failed"
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup/root.mjs';
import { kSeed } from './runners.mjs';

export const kReadByAll = [
  '.npmrc',
  'package.json',
  'package-lock.json',
  'tools/build.mjs',
  'tools/setup',
  'tools/test.mjs',
  'tools/test/',
  'tools/variants.mjs',
];

/** Paths that no suite reads, also if a suite reads their folder. */
export const kReadByNone = ['.ci/', '.devcontainer/', '.github/', '.gitignore'];

const kCore = ['core/', 'cmake/', 'CMakeLists.txt', 'CMakePresets.json'];
const kData = ['models/', 'tests/fixtures/'];
const kEngine = [...kCore, 'bindings/'];
const kPackage = [...kEngine, 'web/src/', 'web/alias/', 'tools/bundle', 'tsconfig.build.json'];
const kVitest = ['vitest.config.ts', 'tests/node/support/'];
const kDemo = ['demo/', 'tools/docs', 'tools/demo_package', 'tools/site', 'tools/serve.mjs', 'tools/packaged_demo.mjs'];
const kTarball = [...kPackage, ...kDemo, ...kData, 'LICENSE', 'NOTICE', 'README.md'];
const kInChromium = [...kPackage, ...kVitest, ...kData, 'tests/browser/chromium.ts', 'tests/browser/tiny_served.ts'];

const withSwiftShader = ['node', 'tests/node/gpu/with_swiftshader.mjs'];

const kShaders = ['tests/node/gpu/operations.test.ts'];
const kMainPath = ['tests/browser/demo/page.test.ts', 'tests/browser/demo/tasks.test.ts'];
/** Without gpu.test.ts, which 'browser-plain' runs: software compiles shaders for half a minute, and 'gpu' covers every shader. */
const kInOnePage = readdirSync(join(root, 'tests/browser'))
  .filter((name) => name.endsWith('.test.ts') && name !== 'gpu.test.ts')
  .map((name) => `tests/browser/${name}`);
const kTarballItself = ['tests/packaging/package.test.ts'];
/** Tests of the suite "frameworks", and installed packages. */
const kOtherPackages = ['hosts', 'node_modules', 'work'].map((name) => `tests/packaging/${name}`);

/** C++ tests that take seconds each under sanitizers, because they train, repeat or grow. */
export const kLong = [
  ...['Gliner.ScoresManyWordsByManyLabels', 'LinearTime.*', 'PretrainDetection.LearnsAndRepeatsItself'],
  ...['PretrainMaskedWords.LearnsWhatIsEasy', 'RandomModels.DeepLayersAgreeInQ8', 'Threads.LearnTheSameToTheBit'],
].join(':');

/** Tests in Node that repeat loads, calls and steps many times, wait, or take seconds for a part that changes rarely. */
const kSlowInNode = [
  ...['arguments', 'cache_faults', 'demo_models', 'dispose_memory', 'event_loop', 'json_files', 'load_memory', 'memory'],
  ...['package_types', 'linear_time', 'published', 'quantize_all', 'idle_worker', 'shards', 'trim', 'cli/batch'],
  ...['explain', 'few', 'lessons', 'pretrain', 'shards', 'threads', 'zero_shot'].map((name) => `teach/${name}`),
].map((name) => `tests/node/${name}.test.ts`);

/** The test files in the folder and below, except those in `others`, which are files or folders. */
function theRest(folder, others) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (others.includes(path)) return [];
    if (entry.isDirectory()) return theRest(path, others);
    return path.endsWith('.test.ts') ? [path] : [];
  });
}

export const kSuites = [
  {
    name: 'lint',
    tier: 'fast',
    covers: 'formatting and lint rules: clang-format, Biome',
    builds: ['lint'],
    reads: ['.clang-format', 'biome.json', 'bindings/', 'core/', 'demo/', 'tests/', 'tools/', 'vitest.config.ts', 'web/src/'],
    during: 'native',
    processor: 6,
    command: ['node', 'tools/format.mjs', '--check'],
  },
  {
    name: 'types',
    tier: 'fast',
    covers: 'TypeScript types of the package and the tests, and type tests',
    builds: ['library'],
    reads: ['web/src/', 'tests/browser/', 'tests/node/', 'tests/packaging/', 'tsconfig', 'vitest.config.ts'],
    during: 'native',
    processor: 24,
    command: ['npm', 'run', '-s', 'test:types'],
  },
  {
    name: 'native',
    tier: 'fast',
    covers: 'the C++ tests but the longest, with address and undefined-behaviour sanitizers',
    builds: ['native'],
    reads: [...kCore, ...kData, 'tests/native/'],
    processor: 145,
    googletest: 'build/native-debug/peruse_tests',
    filter: `-${kLong}`,
  },
  {
    name: 'wasm',
    tier: 'fast',
    covers: 'C++ tests of operations, kernels, models and memory, and goldens of training, in WebAssembly under Node',
    builds: ['wasm'],
    reads: [...kCore, ...kData, 'tests/native/'],
    processor: 50,
    googletest: 'build/wasm-simd/peruse_wasm_tests.cjs',
  },
  {
    name: 'node',
    tier: 'fast',
    covers: 'the package in Node: pipelines, sources, caches, command line, teaching; code in the documentation; include rules',
    builds: ['library', 'int8_bits'],
    reads: [
      ...kPackage,
      ...kVitest,
      ...kData,
      ...kDemo,
      '.clang-format',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'HACKING.md',
      'LICENSE',
      'NOTICE',
      'README.md',
      'SECURITY.md',
      'biome.json',
      'docs/',
      'tests/',
      'tools/',
      'tsconfig.json',
    ],
    processor: 370,
    vitest: ['node'],
    files: theRest('tests/node', [...kSlowInNode, 'tests/node/gpu']),
  },
  {
    name: 'browser',
    tier: 'fast',
    covers: 'the package in Chromium, on a cross-origin isolated page: threads',
    builds: ['library'],
    reads: [...kInChromium, 'tests/browser/'],
    processor: 49,
    vitest: ['browser'],
    files: kInOnePage,
  },
  {
    name: 'demo',
    tier: 'fast',
    covers: 'the main path of the demo page: its tasks, privacy, isolation',
    builds: ['library'],
    reads: [...kInChromium, ...kDemo, 'tests/browser/demo/'],
    processor: 103,
    vitest: ['demo'],
    files: kMainPath,
  },
  {
    name: 'gpu',
    tier: 'fast',
    covers: 'WebGPU over Dawn and SwiftShader: operations and tiny checkpoints, every shader',
    builds: ['library', 'gpu'],
    reads: [...kPackage, ...kVitest, ...kData, 'tests/node/gpu/', 'tests/native/'],
    processor: 150,
    vitest: ['gpu'],
    files: kShaders,
    within: withSwiftShader,
  },
  {
    name: 'package',
    tier: 'fast',
    covers: 'the packed tarball: contents, sizes, Node, TypeScript',
    builds: ['library', 'hosts'],
    reads: [...kTarball, ...kVitest, 'tests/packaging/'],
    during: 'gpu',
    processor: 65,
    vitest: ['package'],
    files: kTarballItself,
  },
  {
    name: 'some-hosts',
    tier: 'fast',
    covers:
      'the packed tarball in Vite 8 (build and development server) and a Node server with a copy of node_modules; the adapters with current libraries; programs for transformers.js',
    builds: ['library', 'hosts'],
    reads: [...kTarball, ...kVitest, 'tests/browser/page/', 'tests/packaging/', 'tools/hosts.mjs'],
    during: 'wasm',
    processor: 95,
    command: ['node', 'tools/hosts.mjs', 'vite8', 'copied', 'programs', 'ai_sdk7', 'langchain1', 'chroma3', 'orama3', 'react19'],
  },
  {
    name: 'release',
    tier: 'all',
    covers: 'a dry run of a release: versions, publint, are-the-types-wrong, size-limit, knip, npm publish --dry-run of each package',
    why: 'what it reads changes rarely, and its tools take time to install',
    builds: ['library'],
    reads: [...kTarball, 'tools/alias_package.mjs', 'tools/release', 'tools/tarball.mjs'],
    processor: 40,
    command: ['node', 'tools/release.mjs'],
  },
  {
    name: 'native-other',
    tier: 'all',
    covers: 'the longest C++ tests, with sanitizers: training, tens of layers, hundreds of labels, time that grows with the text',
    why: 'seven tests take a third of the time of all; without sanitizers "wasm" runs those of models, and "wasm-other" those of training',
    builds: ['native'],
    reads: [...kCore, ...kData, 'tests/native/'],
    processor: 72,
    googletest: 'build/native-debug/peruse_tests',
    filter: kLong,
  },
  {
    name: 'node-other',
    tier: 'all',
    covers:
      'the package in Node: memory, threads, faults of caches, hostile arguments and files, interrupted batches, answers of the demo models, whole lessons, shards, trimming',
    why: 'repeats loads, calls and steps hundreds of times, waits, or takes seconds for a part that changes rarely',
    builds: ['library'],
    reads: [...kPackage, ...kVitest, ...kData, 'tests/node/'],
    processor: 380,
    vitest: ['node'],
    files: kSlowInNode,
  },
  {
    name: 'frameworks',
    tier: 'all',
    covers:
      'the packed tarball in apps of frameworks, bundlers, runtimes, test runners and one-file tools: eight hosts that the hash of the commit chooses, or all',
    why: 'installs frameworks; frameworks change rarely, and take minutes. All hosts: npm run test:hosts',
    builds: ['library', 'hosts'],
    reads: [...kTarball, ...kVitest, 'docs/guides/with-other-libraries.md', 'tests/browser/page/', 'tests/packaging/', 'tools/hosts.mjs'],
    processor: 830,
    command: ['node', 'tools/hosts.mjs', '--some'],
  },
  {
    name: 'hosts',
    tier: 'all',
    covers: 'the packed tarball in bundlers and every place that a page has',
    why: 'bundlers and runtimes change rarely, and take minutes',
    builds: ['library', 'hosts'],
    reads: [...kTarball, ...kVitest, 'tests/browser/page/', 'tests/packaging/'],
    processor: 167,
    vitest: ['package'],
    files: theRest('tests/packaging', [...kTarballItself, ...kOtherPackages]),
  },
  {
    name: 'gpu-other',
    tier: 'all',
    covers: 'WebGPU over Dawn and SwiftShader: whole pipelines, the choice of a device, faults, shared devices, tiles of other GPUs',
    why: 'SwiftShader compiles the pipelines of each model, which takes minutes',
    builds: ['library', 'gpu'],
    reads: [...kPackage, ...kVitest, ...kData, 'tests/node/gpu/', 'tests/native/'],
    processor: 700,
    vitest: ['gpu'],
    files: theRest('tests/node/gpu', kShaders),
    within: withSwiftShader,
  },
  {
    name: 'gpu-stats',
    tier: 'all',
    covers:
      "what Mesa's compilers make of the GPU kernels for AMD's, Intel's, NVIDIA's and Apple's GPUs: registers, spills, waits for memory, against what is expected",
    why: 'shaders change rarely, and it needs drivers that nothing else uses',
    builds: [],
    reads: ['core/backend/webgpu/', 'tests/bench/gpu_stats', 'tests/node/gpu/', 'tools/setup/mesa'],
    processor: 90,
    command: ['node', 'tests/bench/gpu_stats.mjs'],
  },
  {
    name: 'wasm-other',
    tier: 'all',
    covers: 'the other C++ tests (text, tasks, files, training), in WebAssembly under Node',
    why: 'a second run of "native": sizes have 32 bits in WebAssembly, and the C library is another one',
    builds: ['wasm-other'],
    reads: [...kCore, ...kData, 'tests/native/'],
    processor: 65,
    googletest: 'build/wasm-simd/peruse_wasm_other_tests.cjs',
  },
  {
    name: 'browser-plain',
    tier: 'all',
    covers: 'the package in Chromium, on an ordinary page: one thread; the GPU',
    why: 'a second run of "browser": without isolation a page gets other builds, and no shared memory',
    builds: ['library'],
    reads: [...kInChromium, 'tests/browser/'],
    processor: 60,
    vitest: ['browser-plain'],
  },
  {
    name: 'browser-gpu',
    tier: 'all',
    covers: "the WebGPU backend's operations and checkpoints in Chromium, on its software GPU",
    why: 'a second run of part of "gpu": Chromium validates shaders and limits by itself, and its event loop isn\'t Node\'s',
    builds: ['library', 'gpu'],
    reads: [...kInChromium, 'tests/browser/gpu/', 'tests/native/', 'tests/node/gpu/'],
    processor: 100,
    vitest: ['browser-gpu'],
  },
  {
    name: 'page',
    tier: 'all',
    covers: 'a page as anybody would serve it: requests, caches, sources; the browser extension',
    why: 'waits for servers and caches',
    builds: ['library'],
    reads: [...kInChromium, 'demo/extension/', 'tests/browser/page/', 'tools/demo_package.mjs', 'tools/extension.mjs'],
    processor: 80,
    vitest: ['page'],
  },
  {
    name: 'demo-other',
    tier: 'all',
    covers: 'the rest of the demo page: layout, accessibility, models, failures, inside, teaching, offline',
    why: 'needs minutes for a part that people rarely change',
    builds: ['library'],
    reads: [...kInChromium, ...kDemo, 'docs/', 'tests/browser/demo/'],
    processor: 550,
    vitest: ['demo'],
    files: theRest('tests/browser/demo', kMainPath),
  },
  {
    name: 'lighthouse',
    tier: 'all',
    covers: 'the demo site by Lighthouse, as on a phone and on a desktop: performance, accessibility and best practices',
    why: 'installs 190 MB of packages that nothing else needs; it runs by itself, because it measures time',
    builds: ['library'],
    reads: [...kPackage, ...kDemo, 'tools/lighthouse/'],
    processor: 90,
    command: ['node', 'tools/lighthouse/measure.mjs'],
  },
  {
    name: 'other-browsers',
    tier: 'all',
    covers: 'the package and the demo page in Firefox and WebKitGTK',
    why: 'takes minutes. It runs by itself: next to Chromium, Firefox once waited for two minutes',
    builds: ['library'],
    reads: [...kInChromium, ...kDemo, 'tests/browser/others/', 'tests/browser/page/'],
    processor: 65,
    vitest: ['others'],
  },
  {
    name: 'gpu-lavapipe',
    tier: 'all',
    covers: 'WebGPU over Dawn and lavapipe, a second driver: all operation cases and all hidden states of the tiny checkpoints',
    why: 'a second run of "gpu", and all cases instead of a selection, which takes minutes',
    builds: ['library', 'gpu'],
    reads: [...kEngine, ...kData, 'tests/node/gpu/', 'tests/native/', 'tools/setup/mesa', 'web/src/gpu/'],
    processor: 700,
    command: ['node', 'tests/node/gpu/all_on_lavapipe.mjs'],
  },
  {
    name: 'fuzzers',
    tier: 'all',
    covers: 'every parser, by libFuzzer: 55 s each',
    why: 'searches for a fixed time; it needs a build of its own',
    builds: ['fuzzers'],
    reads: [...kCore, 'tests/fuzz/', 'tools/fuzz.mjs'],
    processor: 365,
    command: ['node', 'tools/fuzz.mjs', '--seconds', '55'],
  },
  {
    name: 'attack',
    tier: 'all',
    covers: 'the built package under broken files, hostile arguments, failing servers and caches, kills and aborts: 5 minutes',
    why: 'searches for a fixed time',
    builds: ['library'],
    reads: [...kPackage, ...kData, 'tests/attack/', 'tests/node/support/'],
    processor: 460,
    command: ['node', 'tests/attack/attack.mjs', '--minutes', '5', '--seed', `${kSeed}`, '--parts', 'tested'],
  },
];
