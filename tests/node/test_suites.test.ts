// The table of test suites is complete, and a change selects the suites that it can affect.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface Suite {
  name: string;
  tier: string;
  covers: string;
  why?: string;
  builds: string[];
  reads: string[];
  during?: string;
  processor: number;
}
interface Result {
  name: string;
  tier: string;
  usual: number;
  processor?: number;
}

const tools = async <T>(name: string) => (await import(new URL(`../../tools/test/${name}.mjs`, import.meta.url).href)) as T;
const { kSuites } = await tools<{ kSuites: Suite[] }>('suites');
const { kBuildNames } = await tools<{ kBuildNames: string[] }>('builds');
const { affectedSuites, isKnown, readOptions } = await tools<{
  affectedSuites(paths: string[], suites: Suite[]): Suite[];
  isKnown(path: string): boolean;
  readOptions(args: string[]): { suites: Suite[]; minutes: number };
}>('selection');
const { failures } = await tools<{ failures(results: object[]): string[] }>('failures');
const { overTime, expectedSeconds } = await tools<{
  overTime(results: Result[]): string[];
  expectedSeconds(usual: number, done: number, seconds: number): number;
}>('times');

const root = fileURLToPath(new URL('../..', import.meta.url));
const affected = (...paths: string[]) => affectedSuites(paths, kSuites).map(({ name }) => name);

test('every row says what the runner and a reader need', () => {
  expect(new Set(kSuites.map(({ name }) => name)).size).toBe(kSuites.length);
  for (const suite of kSuites) {
    expect(suite, suite.name).toMatchObject({ covers: expect.any(String), processor: expect.any(Number), reads: expect.any(Array) });
    expect(['fast', 'all'], suite.name).toContain(suite.tier);
    expect('why' in suite, `${suite.name}: the reason not to be in the fast tier`).toBe(suite.tier === 'all');
    expect(kBuildNames, suite.name).toEqual(expect.arrayContaining(suite.builds));
    const kinds = ['googletest', 'vitest', 'command'].filter((kind) => kind in suite);
    expect(kinds, suite.name).toHaveLength(1);
  }
});

test('a suite runs during another of its tier, which runs by itself', () => {
  for (const { name, tier, during } of kSuites.filter((suite) => suite.during !== undefined)) {
    const other = kSuites.find((suite) => suite.name === during);
    expect(other, name).toMatchObject({ tier });
    expect(other!.during, name).toBeUndefined();
  }
});

test('the fast tier comes first', () => {
  const tiers = kSuites.map(({ tier }) => tier);
  expect(tiers).toEqual([...tiers].sort().reverse());
});

// Files in other folders of the root would select every suite, which is slow.
test('the table knows every folder of the repository', () => {
  const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
  expect(files.filter((file) => file.includes('/') && !isKnown(file))).toEqual([]);
});

test('a change selects the suites that read it', () => {
  expect(affected('docs/security.md')).toEqual(['node', 'demo-other']);
  expect(affected('docs/guides/with-other-libraries.md')).toEqual(['node', 'frameworks', 'demo-other']);
  expect(affected('demo/src/redact_panel.ts')).not.toContain('native');
  expect(affected('demo/src/redact_panel.ts')).toEqual(expect.arrayContaining(['lint', 'demo', 'demo-other']));
  expect(affected('core/text/models/trie.cc')).toEqual(expect.arrayContaining(['native', 'wasm', 'node', 'browser', 'fuzzers', 'attack']));
  expect(affected('tests/fuzz/json_fuzz.cc')).toEqual(['lint', 'node', 'fuzzers']);
  expect(affected('tools/train/texts.py')).toEqual(['lint', 'node']);
});

test('a change to the tools, or to a path that the table does not know, selects every suite', () => {
  expect(affected('tools/test/suites.mjs')).toHaveLength(kSuites.length);
  expect(affected('docs/security.md', 'a_new_folder/file')).toHaveLength(kSuites.length);
});

test('the command line chooses by name and by tier, and refuses the rest', () => {
  const names = (...args: string[]) => readOptions(args).suites.map(({ name }) => name);
  expect(names('--only', 'node,native')).toEqual(['native', 'node']);
  expect(names()).toEqual(kSuites.filter(({ tier }) => tier === 'fast').map(({ name }) => name));
  expect(names('--tier', 'all')).toHaveLength(kSuites.length);
  expect(() => names('--only', 'nodes')).toThrow("Unknown suite 'nodes'");
  expect(() => names('--tier', 'slow')).toThrow("Unknown tier 'slow'");
  expect(() => names('node')).toThrow("Unknown argument 'node'");
  expect(() => names('--only', 'node', '--tier', 'all')).toThrow('leave --tier');
});

test('a suite fails that takes twice its usual processor time, unless the whole machine is slow', () => {
  const suite = (name: string, processor: number, tier = 'all') => ({ name, tier, usual: 100, processor });
  const others = [suite('a', 100), suite('b', 110), suite('c', 90)];
  expect(overTime([...others, suite('d', 190)])).toEqual([]);
  expect(overTime([...others, suite('d', 250)])).toEqual([expect.stringMatching(/^d took 250 s of processor time, usually 100 s/)]);
  expect(overTime([suite('a', 200), suite('b', 220), suite('c', 180), suite('d', 380)])).toEqual([]);
  expect(overTime([{ name: 'e', tier: 'all', usual: 100 }])).toEqual([]); // not measured
});

test('with a limit of minutes, a suite is expected to be as slow as those before it', () => {
  expect(expectedSeconds(300, 0, 0)).toBe(0); // the first always runs
  expect(expectedSeconds(300, 600, 900)).toBe(450);
  expect(readOptions(['--minutes', '78']).minutes).toBe(78);
  expect(readOptions([]).minutes).toBe(Infinity);
  for (const minutes of ['0', 'an hour']) expect(() => readOptions(['--minutes', minutes])).toThrow('--minutes needs a number');
});

// `npm test` must stay short enough to be run for every change. The table's times are compared, not those of a run, which a busy host lengthens;
// --check-times keeps the table true.
test('the fast tier usually takes at most 20 minutes of processor time', () => {
  const fast = kSuites.filter(({ tier }) => tier === 'fast');
  expect(fast.reduce((sum, { processor }) => sum + processor, 0)).toBeLessThanOrEqual(1200);
});

test('the end of a run repeats every failure, with the beginning of its message', () => {
  const long = ['AssertionError: expected 1 to be 2', ...Array.from({ length: 50 }, (_, line) => `line ${line}`)].join('\n');
  const lines = failures([
    { name: 'node', failed: 0, tests: [{ name: 'a.test.ts: passes', seconds: 1 }] },
    { name: 'hosts', failed: 1, tests: [{ name: 'b.test.ts: breaks', seconds: 1, failure: long }] },
    { name: 'gpu', failed: 1, tests: [], error: "not run: the build 'gpu' failed" },
    { name: 'lint', failed: 1, tests: [], output: `${'x\n'.repeat(100)}core/a.cc: wrongly formatted\n` },
  ]);
  expect(lines.slice(0, 2)).toEqual(['FAILED hosts: b.test.ts: breaks', '    AssertionError: expected 1 to be 2']);
  expect(lines).toContain("    not run: the build 'gpu' failed");
  expect(lines.at(-1)).toBe('    core/a.cc: wrongly formatted');
  expect(lines.length).toBeLessThan(60);
});

test('all hosts are tested if nobody knows what changed', async () => {
  const { hostsAreConcerned } = await tools<{ hostsAreConcerned(base: string): boolean }>('../hosts');
  expect(hostsAreConcerned('no-such-commit')).toBe(true);
});
