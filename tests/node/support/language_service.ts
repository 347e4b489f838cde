// TypeScript's language service on one file of a strict project that uses the package: what an editor shows.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const kOptions: ts.CompilerOptions = {
  strict: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: [],
};
const registry = ts.createDocumentRegistry();
let versions = 0;

/** `text` has the comment `/*here*\/` at the place in question. */
export function languageService(text: string) {
  const version = String(++versions);
  const file = `${root}tests/node/in_an_editor.ts`; // inside of the package, which may import itself by its name
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => kOptions,
    getScriptFileNames: () => [file],
    getScriptVersion: (name) => (name === file ? version : '0'),
    getScriptSnapshot: (name) => {
      const content = name === file ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  };
  const service = ts.createLanguageService(host, registry);
  const here = text.indexOf('/*here*/');
  return {
    /** The names that the editor offers. */
    completions: () =>
      (service.getCompletionsAtPosition(file, here, undefined)?.entries ?? [])
        .filter(({ kind }) => kind !== ts.ScriptElementKind.keyword)
        .map(({ name }) => name),
    /** The docstring that the editor shows for the name before the comment. */
    hover: () => ts.displayPartsToString(service.getQuickInfoAtPosition(file, here - 1)?.documentation),
    errors: () => service.getSemanticDiagnostics(file).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  };
}
