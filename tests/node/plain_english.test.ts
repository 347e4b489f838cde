// Comments and documentation avoid the patterns below, of sentences that are hard to read.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const kChecked = [
  'CHANGELOG.md',
  'CMakeLists.txt',
  'CONTRIBUTING.md',
  'HACKING.md',
  'README.md',
  'SECURITY.md',
  'bindings/',
  'cmake/',
  'core/',
  'demo/src/',
  'docs/',
  'tests/native/',
  'tests/tools/',
  'tools/',
  'web/src/',
];

/** Reports of measurements, and the training recipes, are not clean yet. */
const kUnchecked = ['docs/internals/', 'tools/train/'];

/** Each pattern, what to write instead, and an example that it finds. */
const kPatterns = [
  { pattern: /(?:^|[.;:] )Of (?!course|note)[a-z]/, instead: 'start with the subject', example: 'Of a largest value the first gets it.' },
  {
    pattern:
      /(?:^|[.;] )(?:What|Who|Whoever|Where nothing) (?!it |you |they |we )(?:[a-z']+ ){1,6}(?:is|are|has|needs|takes|gets|waits|goes|stays|stands) /,
    instead: 'name the thing',
    example: 'What the page found is shown.',
    unless: /\?/,
  },
  {
    pattern: /\b(?:nobody|nothing|none of|who) (?:reads|asks|needs|brings|wants|calls|knows)\b/,
    instead: '"is unused", "no caller"',
    example: 'What nobody reads goes.',
  },
  { pattern: /\b(?:is|are|was|were) none\b/, instead: '"is empty", "does not exist"', example: 'An adapter, if there is none.' },
  {
    pattern: /\bso (?:many|much) (?:of |bytes|rows|times|words|places|files)/,
    instead: 'the number',
    example: 'Whether so many bytes were reserved.',
  },
  { pattern: /(?:^|[ (])(?:0|-1|null|nullptr|unset|undefined): (?!')/, instead: '"0 means ..."', example: 'The limit; 0: all.' },
  { pattern: /\bbehind (?:it|them|this|that)\b/, instead: '"after"', example: 'The rest is built behind it.' },
  {
    pattern: /\bbeside (?:it|them|the|a|an|that|this|one|other|each|what|its)\b/,
    instead: '"next to", "in addition to"',
    example: 'Beside the page, beside it.',
  },
  {
    pattern: /\b(?:stands?|lies?|lay|stood) (?:in|on|at|there|beside|behind|before|below|above|apart|together|here)\b/,
    instead: '"is"',
    example: 'The file lies in the cache.',
  },
  { pattern: /\banew\b/, instead: '"again"', example: 'It is made anew.' },
  { pattern: /\blets? (?:it |them |the \w+ )?(?:wait|go)\b/, instead: '"blocks", "releases"', example: 'The server lets wait who asks.' },
  {
    pattern: /\b(?:tells?|told) (?:of|what|which|how|where|whether)\b/,
    instead: '"reports", "returns"',
    example: 'It tells what it found.',
  },
];

/** Parts of lines that are right although a pattern finds them. At most 20. */
const kExceptions: string[] = [];

function prose(path: string, text: string): { line: number; words: string }[] {
  let inCode = false;
  return text.split('\n').flatMap((content, index) => {
    if (path.endsWith('.md')) {
      if (content.startsWith('```')) inCode = !inCode;
      return inCode ? [] : [{ line: index + 1, words: content }];
    }
    const comment = /\.cmake$|\.txt$/.test(path)
      ? /(?:^|\s)#\s?(.*)/.exec(content)
      : (/(?:^|[^:"'])\/\/+\s?(.*)/.exec(content) ?? /^\s*\/?\*+\/?\s?(.*)/.exec(content));
    return comment ? [{ line: index + 1, words: comment[1]!.trim() }] : [];
  });
}

function findings(path: string, text: string): string[] {
  return prose(path, text).flatMap(({ line, words }) =>
    kPatterns
      .filter(({ pattern, unless }) => pattern.test(words) && !unless?.test(words))
      .map(({ instead }) => `${path}:${line}: ${words} (${instead})`),
  );
}

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(md|mjs|ts|cc|h|cmake)$|CMakeLists\.txt$/.test(path))
  .filter((path) => kChecked.some((prefix) => path.startsWith(prefix)) && !kUnchecked.some((prefix) => path.startsWith(prefix)));

const found = files.flatMap((path) => findings(path, readFileSync(join(root, path), 'utf8')));

test('every pattern finds its example', () => {
  for (const { pattern, example } of kPatterns) expect(example).toMatch(pattern);
});

test('comments and documentation are plain English', () => {
  expect(files.length).toBeGreaterThan(60);
  expect(found.filter((finding) => !kExceptions.some((part) => finding.includes(part)))).toEqual([]);
});

test('every exception is needed, and there are few', () => {
  expect(kExceptions.filter((part) => !found.some((finding) => finding.includes(part)))).toEqual([]);
  expect(kExceptions.length).toBeLessThanOrEqual(20);
});
