// The public interface of every entry: what its types declare, what editors offer after `import {`, and what its modules export.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { languageService } from './support/language_service.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Tool {
  kReport: string;
  entriesOfPackage(): { name: string; file: string }[];
  publicInterface(): string;
  namesInReport(report: string): Record<string, string[]>;
}
const tool = (await import(new URL('../../tools/public_interface.mjs', import.meta.url).href)) as Tool;

const report = readFileSync(tool.kReport, 'utf8');
const names = tool.namesInReport(report);
const entries = Object.keys(names);
/** Options that hosts or other libraries name. */
const kOfOthers = /^(IsolateOptions)$/;

test('is that of the report; after a change that is meant, run node tools/public_interface.mjs', () => {
  expect(entries).toEqual(tool.entriesOfPackage().map(({ name }) => name));
  expect(tool.publicInterface()).toBe(report);
}, 60_000);

describe('one spelling (HACKING.md, "Rules of the house")', () => {
  const kSnake = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
  const kCamel = /^[a-z][a-zA-Z0-9]*$/;
  const declarations = report.split(/^(?=[A-Za-z]\w*$)/m).map((text) => ({ name: text.split('\n')[0]!, text }));
  const membersOf = (text: string) => [...text.matchAll(/^ {8}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name!);

  test('options are snake_case, as in transformers.js', () => {
    const options = declarations.filter(({ name }) => /Options$/.test(name) && !kOfOthers.test(name));
    expect(options.length).toBeGreaterThan(20);
    expect(options.flatMap(({ name, text }) => membersOf(text).flatMap((one) => (kSnake.test(one) ? [] : [`${name}.${one}`])))).toEqual([]);
  });

  // max_sim is named as cos_sim is.
  test('functions and settings are camelCase, except for functions of transformers.js', () => {
    const functions = declarations.filter(({ text }) => /^ {4}(async )?function /m.test(text)).map(({ name }) => name);
    const settings = membersOf(declarations.find(({ name }) => name === 'Env')!.text);
    expect(functions.length + settings.length).toBeGreaterThan(20);
    const ofTransformersJs = [
      'cos_sim',
      'max_sim',
      'mean_pooling',
      'full_like',
      'layer_norm',
      'log_softmax',
      'quantize_embeddings',
      'std_mean',
    ];
    expect([...functions, ...settings].filter((name) => !kCamel.test(name))).toEqual(ofTransformersJs);
  });
});

test('names are listed one by one; entries pass on only such lists', () => {
  const passedOn = readdirSync(`${root}web/src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(`${root}web/src/${file}`, 'utf8').match(/^export (type )?\* .*$/gm) ?? []);
  expect(passedOn.length).toBeGreaterThan(4);
  expect(
    passedOn.filter((line) => !/^export \* from '\.\/(tokenizer\/)?(face|index_redact|text_names|other_names)\.js';$/.test(line)),
  ).toEqual([]);
});

test.each(entries)(
  'import { } from %s offers its public names only',
  (entry) => {
    const service = languageService(`import { /*here*/ } from '${entry}';`);
    expect(service.completions().sort()).toEqual([...names[entry]!].sort());
  },
  60_000,
);

describe('modules export the public values', () => {
  const kInternals = /^_internals$/; // one object, for the other scripts of the package
  const bundles: [string, string][] = [
    ['peruse', 'bundle/peruse.js'],
    ['peruse', 'bundle/peruse-service-worker.js'],
    ['peruse', 'bundle/peruse-inline.js'],
    ['peruse/teach', 'bundle/peruse-teach.js'],
    ['peruse/tokenizer', 'bundle/peruse-tokenizer.js'],
    ['peruse/redact', 'bundle/peruse-redact.js'],
    ['peruse/transformers', 'bundle/peruse-transformers.js'],
    ['peruse/isolate', 'bundle/peruse-isolate.js'],
  ];

  test.each(bundles)('%s in %s', (entry, file) => {
    const source = readFileSync(`${root}web/${file}`, 'utf8');
    const exported = [...source.matchAll(/export ?\{([^}]*)\}/g)]
      .flatMap(([, list]) => list!.split(','))
      .map((item) => item.trim().split(/ as /).at(-1)!)
      .filter((name) => !kInternals.test(name));
    expect(exported.sort()).toEqual(valuesOf(entry));
  });

  const kNotInstalled = ['peruse/langchain', 'peruse/react'];
  test.each(entries.filter((entry) => !kNotInstalled.includes(entry)))('%s in Node', async (entry) => {
    const module = (await import(import.meta.resolve(entry))) as object;
    const exported = Object.keys(module).filter((name) => !kInternals.test(name));
    expect(exported.sort()).toEqual(valuesOf(entry));
  });
});

function valuesOf(entry: string): string[] {
  const lines = report.split('\n');
  const same = new Map([...report.matchAll(/^(\w+) \(is (\w+)\)$/gm)].map(([, name, other]) => [name!, other!]));
  const start = lines.findIndex((line) => line.startsWith(`# ${entry} `));
  const after = lines.slice(start + 1).findIndex((line) => line.startsWith('# '));
  const section = lines.slice(start, after < 0 ? undefined : start + 1 + after);
  const isValue = (name: string) => {
    const shown = same.get(name) ?? name;
    const own = section.indexOf(shown); // another entry may have a type of this name
    const at = own < 0 ? lines.indexOf(shown) : start + own;
    const end = lines.findIndex((line, i) => i > at && !line.startsWith(' '));
    return lines.slice(at + 1, end).some((line) => /^ {4}(class|const|function|async function) /.test(line)); // some are types, too
  };
  return names[entry]!.filter(isValue).sort();
}
