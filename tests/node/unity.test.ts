// Sources that share a unity file must not define the same name in their unnamed namespaces (cmake/unity.mjs).
import { expect, test } from 'vitest';

interface Source {
  path: string;
  text: string;
}
const { privateNames, groups } = (await import(new URL('../../cmake/unity.mjs', import.meta.url).href)) as {
  privateNames(source: string): Set<string>;
  groups(sources: Source[]): string[][];
};

const source = (...lines: string[]) => ['namespace {', ...lines, '}  // namespace', 'int Shared() { return 0; }'].join('\n');

test.each([
  ['constexpr int32_t kSlack = 4;', 'kSlack'],
  ['constexpr std::string_view kNames[] = {', 'kNames'],
  ['const std::array<std::pair<int, std::vector<float>>, 3> kRows = {', 'kRows'],
  ['std::vector<std::function<void(int)>> Made(const Build& build) {', 'Made'],
  ['[[maybe_unused]] std::shared_ptr<Backend> Create() {', 'Create'],
  ['Status* Find(std::string_view name);', 'Find'],
  ['template <typename T> T Sum(std::span<const T> values) {', 'Sum'],
  ['template <typename T> struct Reader {', 'Reader'],
  ['class Files final : public Source {', 'Files'],
  ['enum class Kind { kFirst };', 'Kind'],
  ['using Rows = std::vector<float>;', 'Rows'],
  ['using simd::Floats;', undefined],
  ['  int inner = 0;', undefined],
  ['#define PERUSE_EACH(X) X(a)', 'PERUSE_EACH'],
])('%s', (line, name) => {
  expect([...privateNames(source(line))]).toEqual(name === undefined ? [] : [name]);
});

test('sources share a unity file if they are in one folder and their private names differ', () => {
  const paths = groups([
    { path: 'core/a/one.cc', text: source('int Read(int a) {') },
    { path: 'core/a/two.cc', text: source('int Read(int a) {') },
    { path: 'core/a/three.cc', text: source('int Write(int a) {') },
    { path: 'core/b/four.cc', text: source('int Other(int a) {') },
    { path: 'core/a/large.cc', text: source(`// ${'x'.repeat(100_000)}`) },
  ]);
  expect(paths).toEqual([['core/a/one.cc', 'core/a/three.cc'], ['core/a/two.cc'], ['core/b/four.cc'], ['core/a/large.cc']]);
});
