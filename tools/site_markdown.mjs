// Converts model cards and guides to HTML pages.
import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt({ html: true });
const { escapeHtml } = markdown.utils;
const { rules } = markdown.renderer;
const code = (tokens, index) => `<pre tabindex="0"><code>${escapeHtml(tokens[index].content.trimEnd())}</code></pre>\n`;
// Wide code and tables scroll, also by keyboard.
Object.assign(rules, {
  fence: code,
  code_block: code,
  table_open: () => '<div class="table" tabindex="0"><table>\n',
  table_close: () => '</table></div>\n',
});
markdown.core.ruler.push('pages', ({ tokens }) => {
  for (const [index, { type, content, children }] of tokens.entries()) {
    if (type !== 'inline') continue;
    if (tokens[index - 1].type === 'heading_open') tokens[index - 1].attrSet('id', anchorOf(content));
    tokens[index].children = withPageLinks(children);
  }
});

/** The anchor that GitHub gives a heading. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Makes links to Markdown files links to their pages, and removes links to other files. */
function withPageLinks(tokens) {
  let isKept = true;
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const link = token.attrGet('href');
      const hasPage = /\.md(#|$)/.test(link) && !/^(\.\.\/)+[A-Z]+\.md/.test(link);
      isKept = hasPage || /^(#|https:)/.test(link);
      if (hasPage && !link.startsWith('https:')) {
        token.attrSet('href', link.replace(/README\.md/, 'index.html').replace(/\.md/, '.html'));
      }
    }
    return isKept || !token.type.startsWith('link_');
  });
}

/** Returns an HTML page. `up` is the relative address of the site's first page. */
export function markdownPage(title, text, up = '../') {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${escapeHtml(title)}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="${up}icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${up}style.css" />
  </head>
  <body class="card-page">
    <p><a href="${up}">Peruse</a></p>
    <main>
${markdown.render(text.replace(/^---\n[\s\S]*?\n---\n/, '')).trimEnd()}
    </main>
  </body>
</html>
`;
}
