import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';

const program = fileURLToPath(new URL('../../../build/wasm-simd/peruse_gpu_tests.mjs', import.meta.url));
const runner = fileURLToPath(new URL('run_gpu_tests.mjs', import.meta.url));

/** Runs tests of peruse_gpu_tests, which must pass. Returns their number, and the names of the shaders that they compiled. */
export async function runGoogleTests(filter: string): Promise<{ passed: number; shaders: string[] }> {
  expect(existsSync(program), `${program}: ninja -C build/wasm-simd peruse_gpu_tests builds it`).toBe(true);
  const run = promisify(execFile)(process.execPath, [runner, program, `--gtest_filter=${filter}`, '--gtest_brief=1'], { maxBuffer: 1e9 });
  const { code, stdout, stderr } = await run.then(
    (done) => ({ code: 0, ...done }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  const output = stdout + stderr;
  expect(code, output.slice(-4000)).toBe(0);
  return {
    passed: Number(/\[ {2}PASSED {2}\] (\d+) tests?/.exec(output)?.[1] ?? 0),
    shaders: /pipelines of the shaders (.*)/.exec(output)![1]!.split(', '),
  };
}
