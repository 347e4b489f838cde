// Converts model cards and guides to HTML. Supports what they use: headings, paragraphs, lists, tables, code, HTML blocks, bold, italics and
// links.

const kEscapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (character) => kEscapes[character]);

function pageOf(link) {
  return link.startsWith('https:') ? link : link.replace(/README\.md/, 'index.html').replace(/\.md/, '.html');
}

function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Code, bold text and links, each of which may contain the next. */
const kSpans = /(`[^`]+`|\*\*.+?\*\*|\[(?:`[^`]*`|[^[\]`])+\]\([^)\s]+\))/s;

function inline(text) {
  return text
    .split(kSpans)
    .map((part, index) => {
      if (index % 2 === 0) return escaped(part).replace(/(?<!\w)[*_]([^*_]+)[*_](?!\w)/g, '<em>$1</em>');
      if (part.startsWith('`')) return `<code>${escaped(part.slice(1, -1))}</code>`;
      if (part.startsWith('*')) return `<strong>${inline(part.slice(2, -2))}</strong>`;
      const [, words, link] = /^\[(.+)\]\((.+)\)$/s.exec(part);
      return linked(inline(words), link);
    })
    .join('');
}

/** Links to another site, a heading or a page of the documentation. Returns `words` alone for other files, which have no page. */
function linked(words, link) {
  const isOurs = link.startsWith('#') || (/\.md(#|$)/.test(link) && !/^(\.\.\/)+[A-Z]+\.md/.test(link));
  return isOurs || link.startsWith('https:') ? `<a href="${escaped(pageOf(link))}">${words}</a>` : words;
}

function table(lines) {
  const cells = (line, tag) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join('');
  const [head, , ...rows] = lines;
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  return `<div class="table" tabindex="0"><table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

function block(lines) {
  const [first] = lines;
  const heading = /^(#{1,3}) (.*)/.exec(first);
  if (heading) return `<h${heading[1].length} id="${anchorOf(heading[2])}">${inline(heading[2])}</h${heading[1].length}>`;
  if (/^<\/?[a-z]/.test(first)) return lines.join('\n');
  if (first.startsWith('|')) return table(lines);
  if (first.startsWith('```')) return `<pre tabindex="0"><code>${escaped(lines.slice(1, -1).join('\n'))}</code></pre>`;
  if (/^[-*] /.test(first)) {
    const items = lines.join('\n').split(/\n(?=[-*] )/);
    return `<ul>${items.map((item) => `<li>${inline(item.slice(2))}</li>`).join('\n')}</ul>`;
  }
  if (/^\d+\. /.test(first)) {
    const items = lines.join('\n').split(/\n(?=\d+\. )/);
    return `<ol>${items.map((item) => `<li>${inline(item.replace(/^\d+\. /, ''))}</li>`).join('\n')}</ol>`;
  }
  return `<p>${inline(lines.join('\n'))}</p>`;
}

/** Splits a text at empty lines, but not inside fenced code. */
function blocksOf(text) {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .flatMap((part) => (part.startsWith('```') ? [part] : part.split(/\n\s*\n|\n(?=#)|(?<=^#.*)\n/m)))
    .map((part) => part.replace(/^\n+|\s+$/g, ''))
    .filter((part) => part !== '')
    .map((part) => part.split('\n'));
}

/** Returns an HTML page. `up` is the relative address of the site's first page. */
export function markdownPage(title, markdown, up = '../') {
  const body = blocksOf(markdown.replace(/^---\n[\s\S]*?\n---\n/, '')).map(block);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${escaped(title)}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="${up}icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${up}style.css" />
  </head>
  <body class="card-page">
    <p><a href="${up}">Peruse</a></p>
    <main>
${body.join('\n')}
    </main>
  </body>
</html>
`;
}
