import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const tool = async <T>(name: string) => (await import(new URL(`../../tools/mutants/${name}.mjs`, import.meta.url).href)) as T;
const { placesIn } = await tool<{
  placesIn(text: string, name: string): { line: number; change: string; mutated(guard: string): string }[];
}>('places');
const { placesIn: operatorsIn } = await tool<{
  placesIn(text: string): { line: number; change: string; mutated(guard: string): string }[];
}>('operators');
const { succeeds } = await tool<{ succeeds(program: string, args: string[], limits?: { seconds?: number }): Promise<boolean> }>('limited');
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

const kCore = `
#include <a+b>
constexpr int kMany = 2 + 1;
bool Reader::Fits(std::string_view text) const {
  // a == b
  if (text.empty() || at_ + 1 - rows_ * kMany >= text.size()) return false;
  const std::vector<int> list = Take(text, '+' == text.front());
  for (; i + 4 <= count; i += 4) Add(list);
  if (!TryPushBack(&list, 1)) return false;
  return list.size() > 2 &&
         !IsOpen(text);
}`;

test('operators of C++ have whole operands, over lines, too, and stay out of types, texts and comments', () => {
  expect(operatorsIn(kCore).map(({ line, mutated }) => `${line}: ${mutated('on')}`)).toEqual([
    '6: (on ? (text.empty() && at_ + 1 - rows_ * kMany >= text.size()) : (text.empty() || at_ + 1 - rows_ * kMany >= text.size()))',
    '6: (on ? (at_ - 1) : (at_ + 1))',
    '6: (on ? (at_ + 1 + rows_ * kMany) : (at_ + 1 - rows_ * kMany))',
    '6: (on ? (at_ + 1 - rows_ * kMany > text.size()) : (at_ + 1 - rows_ * kMany >= text.size()))',
    '6: (on ? true : false)',
    "7: (on ? ('+' != text.front()) : ('+' == text.front()))",
    '10: (on ? (list.size() >= 2) : (list.size() > 2))',
    '10: (on ? (list.size() > 2 || !IsOpen(text)) : (list.size() > 2 &&\n         !IsOpen(text)))',
  ]);
});

test('tests of a mutant end when they compute for too long, and not because time has passed', async () => {
  expect(await succeeds(process.execPath, ['-e', 'setTimeout(() => {}, 1500)'], { seconds: 1 })).toBe(true);
  expect(await succeeds(process.execPath, ['-e', 'for (;;);'], { seconds: 1 })).toBe(false);
  expect(await succeeds(process.execPath, ['-e', 'process.exitCode = 1'])).toBe(false);
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
