import { expect, test } from 'vitest';

type Pair = { uri: string; suite: string };
const module = new URL('../../tools/setup/debian.mjs', import.meta.url).href;
const { parseSources } = (await import(module)) as { parseSources(text: string, isDeb822: boolean): Pair[] };

test('one-line sources: options, comments and source entries', () => {
  const text = `# deb http://commented.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib
deb-src http://mirror.example/debian bookworm main
  deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] https://other.example/debian/ bookworm-updates main
`;
  expect(parseSources(text, false)).toEqual([
    { uri: 'http://mirror.example/debian', suite: 'bookworm' },
    { uri: 'https://other.example/debian/', suite: 'bookworm-updates' },
  ]);
});

test('deb822 sources: several suites, continued lines, comments inside, a disabled stanza', () => {
  const text = `Types: deb
# a comment inside
URIs: http://mirror.example/debian
Suites: bookworm
 bookworm-updates
Components: main

Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: bookworm
Components: main
`;
  expect(parseSources(text, true)).toEqual([
    { uri: 'http://mirror.example/debian', suite: 'bookworm' },
    { uri: 'http://mirror.example/debian', suite: 'bookworm-updates' },
  ]);
});
