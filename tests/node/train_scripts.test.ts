// tools/train: one recipe for each model, nothing that no model's card names, and no cycle.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

function scripts(folder: string): Map<string, string> {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.py'));
  return new Map(names.map((name) => [name, readFileSync(join(root, folder, name), 'utf8')]));
}

const recipes = scripts('tools/train');
const shared = scripts('tools/train/shared');

function cycles(modules: Map<string, string>): string[] {
  const uses = new Map(
    [...modules].map(([name, text]) => [
      name,
      [...modules.keys()].filter((other) => {
        const module = other.replace('.py', '');
        return (
          other !== name &&
          new RegExp(`^from (shared\\.)?${module} import|^import ${module}$|^from shared import .*\\b${module}\\b`, 'm').test(text)
        );
      }),
    ]),
  );
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of uses.get(from)!) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return [...modules.keys()].filter((name) => reach(name).has(name));
}

const models = readdirSync(join(root, 'models')).filter((name) => name.startsWith('peruse-'));
const cards = models.map((name) => [name, readFileSync(join(root, 'models', name, 'README.md'), 'utf8')] as const);

test('a card names each script', () => {
  const all = cards.map(([, card]) => card).join('\n');
  expect([...recipes.keys()].filter((name) => !all.includes(`python ${name} `))).toEqual([]);
});

test.each(cards)('the card of %s says what q8 and q4 cost, on what it was chosen, and ten times where it fails', (_, card) => {
  expect(card).toMatch(/\bq8\b.*\bq4\b/s);
  expect(card).toContain('\n**Chosen on.** ');
  const section = card.split('\n## Where it fails\n')[1]!.split('\n## ')[0]!;
  expect(section.split('\n').filter((line) => line.startsWith('| ')).length - 2).toBeGreaterThanOrEqual(10);
});

test('they have fewer than 4,250 lines, and no cycle', () => {
  const all = new Map([...recipes, ...shared]);
  const lines = [...all.values()].reduce((sum, text) => sum + text.split('\n').length - 1, 0);
  expect(lines).toBeGreaterThan(1000);
  expect(lines).toBeLessThan(4250);
  expect(cycles(all)).toEqual([]);
});

test('a cycle would be found', () => {
  expect(
    cycles(
      new Map([
        ['a.py', 'from shared.b import x\n'],
        ['b.py', 'import a\n'],
      ]),
    ),
  ).toEqual(['a.py', 'b.py']);
});
