import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import '../../../web/dist/index_node.js';
import { commandHelp, kCommands } from '../../../web/dist/cli/commands.js';

const { commandsPage } = (await import(new URL('../../../tools/docs/commands.mjs', import.meta.url).href)) as {
  commandsPage(commands: typeof kCommands, help: (name: string) => string): string;
};

const kPage = readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8');

test('the first command of docs/commands.md prints what the page shows', () => {
  const [, command, output] = /```sh\nnpx peruse (.*)\n```\n\n```\n([^`]*)```/.exec(kPage)!;
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const words = command!
    .replace('node_modules/peruse-demo/', '')
    .match(/'[^']*'|\S+/g)!
    .map((word) => word.replaceAll("'", ''));
  const { stdout, stderr } = spawnSync(process.execPath, ['web/dist/cli/main.js', ...words], { cwd: root, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: output, stderr: '' });
});

test('docs/commands.md has the help text of every command: node tools/docs/commands.mjs writes it', () => {
  expect(kPage).toBe(commandsPage(kCommands, (name) => commandHelp(name, kCommands[name]!)));
});
