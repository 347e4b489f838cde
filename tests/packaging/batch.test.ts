import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

const { folder } = inject('installed');

test('rows of CSV become results, from two workers, and are evaluated', () => {
  const rows = Array.from(
    { length: 40 },
    (_, i) => `${i},"It was ${i % 2 ? 'lovely' : 'awful'}, ${i}.",${i % 2 ? 'POSITIVE' : 'NEGATIVE'}\n`,
  );
  writeFileSync(join(folder, 'rows.csv'), `id,text,gold\n${rows.join('')}`);
  const peruse = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'node_modules/peruse/web/dist/cli/main.js'), ...args], { cwd: folder, encoding: 'utf8' });
  const model = 'models/peruse-sentiment-convbert-tiny';
  const run = peruse('classify', model, '--in', 'rows.csv', '--out', 'results.csv', '--workers', '2', '--batch-size', '8');
  expect(run.status, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ rows: 40, errors: 0 });
  const lines = readFileSync(join(folder, 'results.csv'), 'utf8').trim().split('\n');
  expect(lines[0]).toBe('id,text,gold,label,score,error');
  expect(lines.slice(1).map((line) => Number(line.split(',')[0]))).toEqual(rows.map((_, i) => i));
  const report = JSON.parse(peruse('evaluate', 'results.csv', '--gold', 'gold').stdout) as { rows: number; accuracy: number };
  expect(report.rows).toBe(40);
  expect(report.accuracy).toBeGreaterThan(0.9);
});
