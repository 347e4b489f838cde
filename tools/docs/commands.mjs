#!/usr/bin/env node
// Writes docs/commands.md from the commands' own help texts: node tools/docs/commands.mjs (after npm run build:ts). A test compares the page.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from '../setup/main_module.mjs';
import { root } from '../setup/root.mjs';

const kIntroduction = `# The command \`peruse\`

After reading this page you can use every command of the package from a terminal. Each one prints these lines, too: \`npx peruse <command> --help\`.

\`\`\`sh
npx peruse redact node_modules/peruse-demo/models/peruse-tagger-convbert-tiny 'My name is Zoe.'
\`\`\`

\`\`\`
My name is [PER_1].
\`\`\`

A model is a folder, a URL or a hub id (\`user/model\`). Results are JSON lines on standard output (of \`redact\` texts), messages go to standard error. The exit code is 0 if the
command has done its work, 1 if it failed, 2 if the command line is wrong, and 3 if some rows of \`--in\` failed. [Rows of a file](guides/batches.md) has
long runs that can be resumed; [Models](models.md) and [Precision and size](precision.md) say when to copy a model with \`quantize\`, \`convert\`, \`trim\`
or \`shrink\`.
`;

/** The page's text. `help` returns the help text of a command by its name. */
export function commandsPage(commands, help) {
  const rows = Object.entries(commands).map(([name, { summary }]) => `| [\`${name}\`](#${name}) | ${summary.replaceAll('|', '\\|')} |`);
  const sections = Object.keys(commands).map((name) => `## ${name}\n\n\`\`\`text\n${help(name).trimEnd()}\n\`\`\`\n`);
  return `${kIntroduction}\n| command | |\n|---|---|\n${rows.join('\n')}\n\n${sections.join('\n')}`;
}

await runAsProgram(import.meta.url, async () => {
  await import('../../web/dist/index_node.js');
  const { kCommands } = await import('../../web/dist/cli/commands.js');
  const { commandHelp } = await import('../../web/dist/cli/commands.js');
  const page = commandsPage(kCommands, (name) => commandHelp(name, kCommands[name]));
  writeFileSync(join(root, 'docs/commands.md'), page);
});
