// All operation cases and goldens on the WebGPU backend in Chromium, with the program that tests/node/gpu runs in Node
// (cmake/gpu_tests.cmake).
/// <reference types="vite/client" />
import { expect, test } from 'vitest';
import { PipelineCache } from '../../../web/dist/gpu/device.js';
import { GpuExecutor } from '../../../web/dist/gpu/executor.js';
import { executorsFor } from '../../node/gpu/executors.mjs';

const kProgram: string = '/build/wasm-simd/peruse_gpu_tests.mjs'; // ninja -C build/wasm-simd peruse_gpu_tests
const kFixtures = import.meta.glob<string>('../../fixtures/{tiny,conv}/**/*', { query: '?url', import: 'default', eager: true });

interface TestFileSystem {
  mkdirTree(path: string): void;
  writeFile(path: string, content: Uint8Array): void;
}

async function readFixtures(): Promise<[path: string, content: Uint8Array][]> {
  return Promise.all(
    Object.entries(kFixtures).map(async ([path, url]) => {
      const response = await fetch(url);
      return [path.replace('../..', ''), new Uint8Array(await response.arrayBuffer())] as [string, Uint8Array];
    }),
  );
}

async function runGoogleTests(filter: string): Promise<{ code: number; output: string[] }> {
  const device = await (await navigator.gpu.requestAdapter())!.requestDevice();
  const files = await readFixtures();
  const { default: createTests } = (await import(/* @vite-ignore */ kProgram)) as { default: (options: object) => Promise<unknown> };
  const output: string[] = [];
  const code = await new Promise<number>((resolve, reject) => {
    createTests({
      gpu: executorsFor(device, new PipelineCache(device), { GpuExecutor }),
      arguments: [`--gtest_filter=${filter}`, '--gtest_brief=1'],
      print: (line: string) => output.push(line),
      printErr: (line: string) => output.push(line),
      preRun: ({ FS }: { FS: TestFileSystem }) => {
        for (const [path, content] of files) {
          FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
          FS.writeFile(path, content);
        }
      },
      finished: resolve,
      onAbort: () => reject(new Error(`the program aborted:\n${output.slice(-20).join('\n')}`)),
    }).catch(reject);
  });
  device.destroy();
  return { code, output };
}

test('operations and tiny checkpoints agree with the reference', async () => {
  const { code, output } = await runGoogleTests('BackendTest.*:*_1_2_3_17_*:Tiny/GoldenTest.RaggedBatch/*');
  expect(code, output.slice(-60).join('\n')).toBe(0);
  const passed = Number(/PASSED {2}\] (\d+) tests/.exec(output.join('\n'))?.[1]);
  expect(passed).toBeGreaterThan(200);
}, 900_000);
