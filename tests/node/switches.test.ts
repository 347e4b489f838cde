// The compiler reports an enumerator that a switch forgets, unless the switch has a default. These tests refuse a default in a switch over an
// enumeration, and code that examines layouts or goals outside of the files that define them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = ['core', 'bindings'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cc|h)$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .map((file) => ({ file, code: readFileSync(join(root, file), 'utf8').replace(/\/\/.*$/gm, '') })),
);

/** Returns the bodies of the switches in a text. */
function switchesOf(code: string): { of: string; body: string }[] {
  return [...code.matchAll(/\bswitch \((.*)\) \{/g)].map((found) => {
    const begin = found.index + found[0].length;
    let end = begin;
    for (let depth = 1; depth > 0 && end < code.length; ++end) depth += code[end] === '{' ? 1 : code[end] === '}' ? -1 : 0;
    return { of: found[1]!, body: code.slice(begin, end) };
  });
}

/** Returns switches over enumerations that have a default. */
function incomplete(code: string): string[] {
  return switchesOf(code).flatMap(({ of, body }) => (/\bcase (\w+::)+k[A-Z]/.test(body) && /\bdefault:/.test(body) ? [of] : []));
}

test('no switch over an enumeration has a default', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap(({ file, code }) => incomplete(code).map((of) => `${file}: ${of}`))).toEqual([]);
});

test('only their own files look into layouts and switch over goals', () => {
  const looks = /(?:get_if|get|holds_alternative)<layouts::|\bswitch \(\w*goal\w*\)|\bcase Goal::/;
  const rooms = ['core/program/layout.h', 'core/program/layout.cc', 'core/train/recipes/objective.cc'];
  expect(files.filter(({ file, code }) => looks.test(code) && !rooms.includes(file)).map(({ file }) => file)).toEqual([]);
});

test('a default would be found', () => {
  const text = 'switch (kind) {\n  case Kind::kA: {\n    break;\n  }\n  default:\n    break;\n}\nswitch (c) {\n  case 1:\n  default:\n}';
  expect(incomplete(text)).toEqual(['kind']);
  expect(incomplete('switch (kind) {\n  case Kind::kA:\n}\nswitch (tag & 7) {\n  case 0:\n  default:\n}')).toEqual([]);
});
