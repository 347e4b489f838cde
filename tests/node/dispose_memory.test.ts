// dispose() returns all memory of a load to the system, not only to the engine. (tests/attack/parts/levels.mjs repeats it 300 times.)
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kLoads = 40;
const kProgram = fileURLToPath(new URL('../attack/lib/load_often.mjs', import.meta.url));

test.each([
  { variant: 'simd', worker: false },
  { variant: 'simd', worker: true },
  { variant: 'simd-threads', worker: false, threads: 2 },
  { variant: 'simd-threads', worker: true, threads: 2 },
])(
  '%o: after forty loads memory is where it was after ten',
  (options) => {
    const { stdout, stderr, status, signal } = spawnSync(
      process.execPath,
      ['--expose-gc', kProgram, JSON.stringify(options), String(kLoads)],
      {
        encoding: 'utf8',
      },
    );
    expect({ stderr, status, signal }).toEqual({ stderr: '', status: 0, signal: null });
    const { first, end, text } = JSON.parse(stdout) as { first: number; end: number; text: string };
    console.log(`${JSON.stringify(options)}: ${text}`);
    expect(end - first).toBeLessThan(1e6 * (kLoads - 10)); // each leaked engine is 6 MB
  },
  600_000,
);
