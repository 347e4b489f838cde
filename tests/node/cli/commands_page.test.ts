import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import '../../../web/dist/index_node.js';
import { commandHelp, kCommands } from '../../../web/dist/cli/commands.js';

const { commandsPage } = (await import(new URL('../../../tools/docs/commands.mjs', import.meta.url).href)) as {
  commandsPage(commands: typeof kCommands, help: (name: string) => string): string;
};

test('docs/commands.md has the help text of every command: node tools/docs/commands.mjs writes it', () => {
  const page = readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8');
  expect(page).toBe(commandsPage(kCommands, (name) => commandHelp(name, kCommands[name]!)));
});
