// Writes unity files: each includes several sources of one folder, so that headers and templates are compiled once for all of them.
// node cmake/unity.mjs <root> <output folder> <source>...
// Prints the files to compile, one on each line: unity files, and sources that share no unity file.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Limits the size of a unity file, because an edit compiles the whole unity file again. */
const kMostCharacters = 80_000;

const kArguments = '<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>'; // of templates
const kDeclaration = new RegExp(
  [
    String.raw`^#define (\w+)`,
    String.raw`^(?:template <.*> )?(?:class|struct|enum class|enum|union) (\w+)`,
    String.raw`^using (\w+) =`,
    String.raw`^(?:\[\[\w+\]\] )?\w(?:[^(={;<]|${kArguments})*?[ *&](\w+)(?:\[\w*\])*(?:[({;]| =)`,
  ].join('|'),
);

/** Names that only this source may see: names in unnamed namespaces, and macros. Expects the format of clang-format. */
export function privateNames(source) {
  const names = new Set();
  let unnamed = false;
  for (const line of source.split('\n')) {
    if (line === 'namespace {') unnamed = true;
    else if (line === '}  // namespace') unnamed = false;
    else if (unnamed || /^(?:static|#define) /.test(line)) {
      const name = kDeclaration.exec(line)?.slice(1).find(Boolean);
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}

/** Distributes sources ({ path, text }) among groups of a limited size. A group has one folder and no private name twice. */
export function groups(sources) {
  const made = [];
  for (const { path, text } of sources) {
    const names = [...privateNames(text)];
    const folder = dirname(path);
    const fits = (group) =>
      group.folder === folder && group.characters + text.length <= kMostCharacters && !names.some((name) => group.names.has(name));
    let group = made.find(fits);
    if (group === undefined) made.push((group = { folder, characters: 0, names: new Set(), paths: [] }));
    group.characters += text.length;
    for (const name of names) group.names.add(name);
    group.paths.push(path);
  }
  return made.map(({ paths }) => paths);
}

function main([root, out, ...files]) {
  mkdirSync(out, { recursive: true });
  const written = new Set();
  for (const group of groups(files.map((file) => ({ path: relative(root, file), text: readFileSync(file, 'utf8') })))) {
    if (group.length === 1) {
      console.log(join(root, group[0]));
      continue;
    }
    const name = `${group[0].replaceAll('/', '_').replace(/\.cc$/, '')}_and_more.cc`;
    const path = join(out, name);
    const text = group.map((source) => `#include "${source}"\n`).join('');
    // An unchanged file is not written, so that ninja does not compile it again.
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
    written.add(name);
    console.log(path);
  }
  for (const name of readdirSync(out)) if (!written.has(name)) rmSync(join(out, name));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv.slice(2));
