import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Each layer with the layers that it may use; it may also use theirs.
const kEdges: Readonly<Record<string, readonly string[]>> = {
  'core/base': [],
  'core/text': ['core/base'],
  'core/tensor': ['core/base'],
  'core/formats': ['core/tensor'],
  'core/ops': ['core/formats'],
  'core/program': ['core/ops'],
  'core/cpu': ['core/ops'],
  'core/backend': ['core/program'],
  'core/backend/reference': ['core/backend'],
  'core/backend/cpu': ['core/backend', 'core/cpu'],
  'core/backend/webgpu': ['core/backend'],
  'core/weights': ['core/backend', 'core/cpu', 'core/text'], // merging adapters multiplies; peft's keys are regular expressions
  'core/heads': ['core/program'],
  'core/families': ['core/heads'],
  'core/model': ['core/families', 'core/weights'],
  'core/tasks': ['core/model', 'core/text'],
  'core/api': ['core/tasks'],
  'core/train': ['core/api', 'core/cpu'], // no backend: a program is trained by the operations of its own folder
  bindings: ['core/api', 'core/backend/cpu', 'core/backend/webgpu', 'core/train'],
};

function reachable(layer: string): Set<string> {
  const found = new Set([layer]);
  for (const next of found) for (const edge of kEdges[next] ?? []) found.add(edge); // a Set's loop includes additions
  return found;
}

function layerOf(file: string): string | undefined {
  const holding = Object.keys(kEdges).filter((layer) => file.startsWith(`${layer}/`));
  return holding.sort((a, b) => b.length - a.length)[0];
}

function forbiddenIncludes(file: string, text: string): string[] {
  const layer = layerOf(file);
  if (layer === undefined) return [`${file} is in no layer`];
  const allowed = reachable(layer);
  const bad: string[] = [];
  for (const [, included] of text.matchAll(/^\s*#\s*include\s+"((?:core|bindings|web|tests|tools|demo)\/[^"]+)"/gm)) {
    const target = layerOf(included!);
    if (target === undefined || !allowed.has(target)) bad.push(`${file} includes ${included}`);
  }
  return bad;
}

function sources(folder: string): { file: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => /\.(cc|h|inc)$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}

const files = [...sources('core'), ...sources('bindings')];

describe('include graph', () => {
  test('there are sources', () => {
    expect(files.length).toBeGreaterThan(20);
  });

  test('every include follows an allowed edge', () => {
    expect(files.flatMap(({ file, text }) => forbiddenIncludes(file, text))).toEqual([]);
  });

  test('only core/cpu names XNNPACK or its thread pool', () => {
    const code = (text: string) => text.replaceAll(/\/\/.*$/gm, '');
    const naming = files.filter(({ text }) => /\bxnn_|\bpthreadpool_|["<]xnnpack/.test(code(text))).map(({ file }) => file);
    expect(naming.filter((file) => !file.startsWith('core/cpu/'))).toEqual([]);
  });

  test('training includes no backend', () => {
    const including = files.filter(({ file, text }) => file.startsWith('core/train/') && /#include "core\/backend\//.test(text));
    expect(including.map(({ file }) => file)).toEqual([]);
  });

  test('tasks know no JSON: core/api reads and writes it', () => {
    const naming = files.filter(
      ({ file, text }) => file.startsWith('core/tasks/') && /Json|json\.h/.test(text.replaceAll(/\/\/.*$/gm, '')),
    );
    expect(naming.map(({ file }) => file)).toEqual([]);
  });

  // The compiler then warns of a value that a switch lacks. Text, pickles and signatures of zip archives are switches over bytes.
  test('no switch over an enumeration has a default', () => {
    const having = files.filter(({ text }) => /^\s*default:/m.test(text)).map(({ file }) => file);
    expect(having.filter((file) => !/^core\/(text\/|weights\/pytorch\/(pickle|zip_parser)\.cc$)/.test(file))).toEqual([]);
  });

  test('headers are guarded', () => {
    const unguarded = files.filter(({ file, text }) => file.endsWith('.h') && !/^#pragma once$/m.test(text));
    expect(unguarded.map(({ file }) => file)).toEqual([]);
  });

  test('a forbidden include would be found', () => {
    expect(forbiddenIncludes('core/families/a.cc', '#include "core/backend/cpu/b.h"\n')).toHaveLength(1);
    expect(forbiddenIncludes('core/text/a.cc', '#include "core/tensor/tensor.h"\n')).toHaveLength(1);
    expect(forbiddenIncludes('core/backend/reference/a.cc', '#include "core/backend/cpu/b.h"\n')).toHaveLength(1);
    expect(forbiddenIncludes('core/tasks/a.cc', '#include "core/api/run.h"\n')).toHaveLength(1);
    expect(forbiddenIncludes('core/tasks/a.cc', '#include "core/tensor/tensor.h"\n')).toEqual([]);
  });
});
