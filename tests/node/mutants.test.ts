import { expect, test } from 'vitest';

const tool = async <T>(name: string) => (await import(new URL(`../../tools/mutants/${name}.mjs`, import.meta.url).href)) as T;
const { placesIn } = await tool<{
  placesIn(text: string, name: string): { line: number; change: string; mutated(guard: string): string }[];
}>('places');
const { chosen } = await tool<{ chosen<T>(items: readonly T[], count: number, seed: number): T[] }>('choose');

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
  expect(places[5]!.mutated('on')).toBe('if (!on) close(list);');
});

test('a seed chooses the same places again', () => {
  const items = Array.from({ length: 100 }, (_, i) => i);
  const first = chosen(items, 10, 7);
  expect(new Set(first).size).toBe(10);
  expect(chosen(items, 10, 7)).toEqual(first);
  expect(chosen(items, 10, 8)).not.toEqual(first);
  expect(chosen([1, 2], 10, 1).sort()).toEqual([1, 2]);
});
