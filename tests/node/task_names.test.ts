// Only tasks/, and what calls pipelines by their tasks, name tasks. The other files read definitions. Comments may name tasks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { kTasks } from '../../web/src/tasks/tasks.js';

const kSources = fileURLToPath(new URL('../../web/src', import.meta.url));
/** The command line, adapters of other libraries, the entry peruse/redact, and transformers.js's names of pipelines. */
const kCallers = /^(tasks|cli|adapters|transformers)\/|^(index_redact|pipeline_classes)\.ts$/;

function namesIn(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');
  return Object.keys(kTasks).filter((task) => new RegExp(`['"\`]${task}['"\`]`).test(code));
}

test('no other file names a task', () => {
  const files = readdirSync(kSources, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !kCallers.test(name));
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((file) => namesIn(readFileSync(join(kSources, file), 'utf8')).map((task) => `${file}: ${task}`))).toEqual([]);
});

test('a name would be found', () => {
  expect(namesIn("if (task === 'fill-mask') return; // not 'redact'")).toEqual(['fill-mask']);
});
