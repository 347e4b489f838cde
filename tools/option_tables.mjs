#!/usr/bin/env node
// Writes the tables of options in docs/tasks and docs/teach.md from their schemas (web/src/options.ts): the default, and the comment without its sentence about the
// default. Run it after `npm run build:ts`. tests/node/docs_options.test.ts compares the tables.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

const folder = join(root, 'docs/tasks');

function cell({ kind, default: value }) {
  if (value === undefined) return '';
  if (Array.isArray(kind) && kind.includes(value)) return ` \`'${value}'\``;
  return typeof value === 'boolean' ? ` \`${value}\`` : ` ${value}`;
}

/** The comment of a schema's entry, as one line. */
function textOf(checker, symbol, { kind, default: value }) {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, ' ').trim();
  const short = value === undefined ? text : text.replace(/ ?\bDefault:? [^.;,]*(?:\.\d[^.;,]*)*\.(?= |$)/, '');
  const words = (Array.isArray(kind) ? kind : []).map((word) => `'${word}'`);
  const missing = words.every((word) => short.includes(word)) ? '' : ` One of ${words.join(', ')}.`;
  return words
    .reduce((line, word) => line.replaceAll(word, `\`${word}\``), (short || text) + missing)
    .replace(/(?<![\w`])'[^' ]+'(?![\w`])/g, '`$&`')
    .replaceAll('|', '\\|');
}

/** The pages with their tables: `{ page, table }`. `start` is the first line of the table. */
export async function optionTables() {
  const dist = (path) => import(join(root, 'web/dist', path));
  const { kTasks } = await dist('tasks/tasks.js');
  const { kLoadOptions } = await dist('pipeline_options.js');
  const { kSourceOptions } = await dist('options.js');
  const { kTeachOptions } = await dist('teach/options.js');
  const { kPretrainOnly } = await dist('teach/pretrain.js');
  const files = ['tasks/tasks.ts', 'pipeline_options.ts', 'options.ts', 'teach/options.ts', 'teach/pretrain.ts'].map((path) =>
    join(root, 'web/src', path),
  );
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    noEmit: true,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const constant = (file, name) => {
    const symbol = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))).find((one) => one.name === name);
    return checker.getTypeOfSymbol(symbol);
  };
  const member = (type, name) => checker.getTypeOfSymbol(type.getProperty(name));
  const rows = (schema, type) =>
    Object.entries(schema).map(([name, option]) => `| \`${name}\` |${cell(option)} | ${textOf(checker, type.getProperty(name), option)} |`);
  const table = (start, lines) => ({ start, table: [start, '|---|---|---|', ...lines, ''].join('\n') });
  const tasks = constant(files[0], 'kTasks');
  const ofTasks = Object.entries(kTasks)
    .filter(([, { options }]) => options !== undefined)
    .map(([task, { options }]) => ({
      page: join(folder, `${task}.md`),
      ...table('| option | default | |', rows(options, member(member(tasks, task), 'options'))),
    }));
  const load = [...rows(kLoadOptions, constant(files[1], 'kLoadOptions')), ...rows(kSourceOptions, constant(files[2], 'kSourceOptions'))];
  const teach = table('| option of `teach()` | default | |', rows(kTeachOptions, constant(files[3], 'kTeachOptions')));
  const pretrain = table('| option of `pretrain()` | default | |', rows(kPretrainOnly, constant(files[4], 'kPretrainOnly')));
  const teaching = [teach, pretrain].map((one) => ({ page: join(root, 'docs/teach.md'), ...one }));
  return [...ofTasks, ...teaching, { page: join(folder, 'README.md'), ...table('| option of `pipeline()` | default | |', load) }];
}

/** The text of the page with the table in place of the one that it has. */
export function withTable(text, { page, start, table }) {
  const at = text.indexOf(`\n${start}\n`) + 1;
  if (at === 0) throw new Error(`${page} has no table that begins with ${start}`);
  const end = text.indexOf('\n\n', at);
  return text.slice(0, at) + table + (end < 0 ? '' : text.slice(end + 1));
}

await runAsProgram(import.meta.url, async () => {
  for (const one of await optionTables()) writeFileSync(one.page, withTable(readFileSync(one.page, 'utf8'), one));
});
