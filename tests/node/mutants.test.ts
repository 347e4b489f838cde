import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const tool = async <T>(name: string) => (await import(new URL(`../../tools/mutants/${name}.mjs`, import.meta.url).href)) as T;
const { placesIn } = await tool<{
  placesIn(text: string, name: string): { line: number; change: string; mutated(guard: string): string }[];
}>('places');
const { chosen } = await tool<{
  chosen<T extends { file: string; change: string }>(places: readonly T[], count: number, seed: number): T[];
}>('choose');
const { kEquivalent } = await tool<{ kEquivalent: [file: string, change: string, reason: string][] }>('equivalent');

const kCode = `
interface Options { limit: 1 | 2 }
export function count(list: string[], { limit }: Options): boolean {
  const text = 'a' + list[0];
  if (!limit && list.length < 3) return false;
  if (isOpen(list)) close(list);
  return limit ? list.length > 1 : true;
}`;

test('places are comparisons, conditions, calls and truth values, not types and texts', () => {
  const places = placesIn(kCode, 'count.ts');
  expect(places.map(({ line, change }) => `${line}: ${change}`)).toEqual([
    '5: !limit && list.length < 3 -> !limit || list.length < 3',
    '5: !limit -> limit',
    '5: list.length < 3 -> list.length <= 3',
    '5: false -> true',
    '6: isOpen(list) -> !(isOpen(list))',
    '6: close(list); -> (nothing)',
    '7: limit ? list.length > 1 : true -> limit ? true : list.length > 1',
    '7: list.length > 1 -> list.length >= 1',
  ]);
  expect(places[2]!.mutated('on')).toBe('(on ? (list.length <= 3) : (list.length < 3))');
  expect(places[5]!.mutated('on')).toBe('{ if (!on) close(list); }'); // a following 'else' belongs to the outer 'if'
});

test('a seed chooses the same places again, and after an edit of another line', () => {
  const places = Array.from({ length: 100 }, (_, i) => ({ file: 'a.ts', change: `${i} < 2 -> ${i} <= 2`, number: i }));
  const first = chosen(places, 10, 7);
  expect(new Set(first).size).toBe(10);
  expect(chosen(places, 10, 7)).toEqual(first);
  expect(chosen(places, 10, 8)).not.toEqual(first);
  const fewer = places.filter((place) => first.includes(place) || place.number % 3 > 0);
  expect(chosen(fewer, 10, 7)).toEqual(first);
  expect(chosen(places.slice(0, 2), 10, 1)).toHaveLength(2);
});

test('changes without a difference: each is a line of the sources, with a reason', () => {
  for (const [file, change, reason] of kEquivalent) {
    const [code] = change.split(file.endsWith('.cc') ? ' (' : ' -> ');
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').replace(/\s+/g, ' ');
    expect(text, change).toContain(code!.replace(/\s+/g, ' '));
    expect(reason).toMatch(/^[A-Z].+\.$/);
  }
});
