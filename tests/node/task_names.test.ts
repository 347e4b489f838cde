// Only tasks/, the interface for users and the command line name tasks. The other folders read definitions. Comments may name tasks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { kTasks } from '../../web/src/tasks/tasks.js';

const kSources = fileURLToPath(new URL('../../web/src', import.meta.url));
const kFolders = ['cache', 'engine', 'explain', 'gpu', 'inline', 'onnx', 'platform', 'quantize', 'sources', 'teach', 'tokenizer', 'worker'];

function namesIn(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');
  return Object.keys(kTasks).filter((task) => new RegExp(`['"\`]${task}['"\`]`).test(code));
}

test.each(kFolders)('no file in %s names a task', (folder) => {
  const files = readdirSync(join(kSources, folder)).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap((file) => namesIn(readFileSync(join(kSources, folder, file), 'utf8')).map((task) => `${file}: ${task}`))).toEqual(
    [],
  );
});

test('a name would be found', () => {
  expect(namesIn("if (task === 'fill-mask') return; // not 'redact'")).toEqual(['fill-mask']);
});
