import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const kEntries = ['web/src/index_node.ts', 'web/src/teach/index.ts'].map((path) => root + path);

const program = ts.createProgram(kEntries, {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  noEmit: true,
  skipLibCheck: true,
});
const checker = program.getTypeChecker();

function isDocumented(symbol: ts.Symbol): boolean {
  return symbol.getDocumentationComment(checker).length > 0;
}

function exported(): ts.Symbol[] {
  return kEntries
    .map((path) => checker.getSymbolAtLocation(program.getSourceFile(path)!)!)
    .flatMap((module) => checker.getExportsOfModule(module))
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
}

test('every export has a docstring', () => {
  expect(exported().length).toBeGreaterThan(30);
  expect(
    exported()
      .filter((symbol) => !isDocumented(symbol))
      .map(({ name }) => name),
  ).toEqual([]);
});

test('every option and setting has a docstring', () => {
  const undocumented = exported()
    .filter(({ name }) => /(Options|^Env)$/.test(name))
    .flatMap((symbol) =>
      checker
        .getDeclaredTypeOfSymbol(symbol)
        .getProperties()
        .filter((property) => !isDocumented(property))
        .map(({ name }) => `${symbol.name}.${name}`),
    );
  expect(undocumented).toEqual([]);
});
