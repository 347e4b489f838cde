// The sections of the documentation site, the order of their pages, and the pages' addresses.

/** The sections of the navigation, and the files of each in the order of reading. A pattern may name further files of a folder. */
export const kSections = [
  ['Start', ['docs/README.md', 'docs/models.md', 'docs/coming-from-transformers-js.md', 'docs/recipes.md']],
  ['Tasks', ['docs/tasks/README.md', /^docs\/tasks\//]],
  [
    'More than answers',
    [
      'docs/semantic-index.md',
      'docs/teach.md',
      'docs/explain.md',
      'docs/inspect.md',
      'docs/tokenizer.md',
      'docs/commands.md',
      /^docs\/guides\//,
    ],
  ],
  ['Pages, apps and servers', ['docs/bundlers.md', 'docs/browsers.md', 'docs/webgpu.md', 'docs/precision.md', 'docs/security.md']],
  ['When something goes wrong', ['docs/errors.md', 'docs/limits.md', /^docs\/[\w-]+\.md$/]],
  ['Models of the demo', [/^models\//]],
  ['How it is built', ['docs/internals/architecture.md', 'docs/internals/build.md', /^docs\/internals\//]],
];

/** Puts files into sections. Returns [section, files] pairs; each file is in one section. */
export function sectionsOf(files) {
  const left = new Set([...files].sort());
  const take = (path) => left.delete(path) && path;
  return kSections.map(([section, members]) => [
    section,
    members
      .flatMap((member) => (typeof member === 'string' ? [take(member)] : [...left].filter((path) => member.test(path)).map(take)))
      .filter(Boolean),
  ]);
}

/** The address of a file's page, without its ending: that of the file in docs/. */
export function addressOf(path) {
  if (path === 'docs/README.md') return 'guides';
  return path
    .replace(/^docs\//, '')
    .replace(/^models\/(.*)\/README\.md$/, 'cards/$1')
    .replace(/README\.md$/, 'index')
    .replace(/\.md$/, '');
}
