#!/usr/bin/env node
// Writes the report of the package's public interface, tests/node/types/public_interface.txt: for each entry of package.json every name, with
// its declaration. tests/node/public_interface.test.ts compares it. Run it after `npm run build:ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

export const kReport = join(root, 'tests/node/types/public_interface.txt');

/** The declarations of each entry for import: those of package.json's condition "types", outside of "require". */
export function entriesOfPackage() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const typesOf = (conditions) =>
    conditions.types ??
    Object.entries(conditions)
      .filter(([name, inner]) => name !== 'require' && typeof inner === 'object')
      .map(([, inner]) => typesOf(inner))
      .find((found) => found !== undefined);
  return Object.entries(exports)
    .filter(([name, conditions]) => typeof conditions === 'object' && !name.includes('*'))
    .map(([name, conditions]) => ({ name: name.replace(/^\./, 'peruse'), file: join(root, typesOf(conditions)) }));
}

const kPrinter = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

function declarationsOf(checker, symbol) {
  return symbol.declarations.map((declaration) => {
    if (isOfSchema(declaration)) return `interface ${symbol.name} {\n${membersOf(checker, symbol)}\n}`;
    const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    return kPrinter.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile()).replace(/^export (declare )?/, '');
  });
}

/** Whether it is the type of a schema's options (web/src/options.ts), which the report lists by name. */
function isOfSchema(declaration) {
  return (
    ts.isInterfaceDeclaration(declaration) &&
    /\bGiven<|\bPick</.test((declaration.heritageClauses ?? []).map((one) => one.getText()).join())
  );
}

function membersOf(checker, symbol) {
  const members = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
  const sorted = (text) => (/^[\w" |]+$/.test(text) ? text.split(' | ').sort().join(' | ') : text); // the compiler's order varies
  const typeOf = (member) => sorted(checker.typeToString(checker.getTypeOfSymbol(member), undefined, ts.TypeFormatFlags.NoTruncation));
  return members.map((member) => `    ${member.name}?: ${typeOf(member)};`).join('\n');
}

/** The text of the report. A name that an earlier entry has too, with the same declaration, is listed without it, and so is another name for it. */
export function publicInterface() {
  const entries = entriesOfPackage();
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: [] },
  );
  const checker = program.getTypeChecker();
  const owners = new Map();
  const sections = entries.map(({ name: entry, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    const symbols = checker.getExportsOfModule(module).map((one) => [one.name, resolved(checker, one)]);
    const lines = symbols
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, symbol]) => {
        const owner = owners.get(symbol);
        if (owner === undefined) owners.set(symbol, { entry, name });
        if (owner === undefined) return `${name}\n${indented(declarationsOf(checker, symbol))}`;
        return owner.name === name ? `${name} (of ${owner.entry})` : `${name} (is ${owner.name})`;
      });
    return `# ${entry} (${relative(root, file).replaceAll('\\', '/')})\n\n${lines.join('\n')}\n`;
  });
  return sections.join('\n');
}

function resolved(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function indented(texts) {
  return texts.flatMap((text) => text.split('\n').map((line) => `    ${line}`)).join('\n');
}

/** The names of each entry in the report. */
export function namesInReport(report) {
  const sections = report.split(/^# /m).slice(1);
  return Object.fromEntries(
    sections.map((section) => [section.split(' ')[0], [...section.matchAll(/^(\w+)(?: \((?:of|is) .*\))?$/gm)].map(([, name]) => name)]),
  );
}

await runAsProgram(import.meta.url, () => writeFileSync(kReport, publicInterface()));
