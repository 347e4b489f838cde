// Converts model cards to HTML. Supports what they use: headings, paragraphs, lists, tables, code, bold, italics and links.

const kEscapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (character) => kEscapes[character]);

function inline(text) {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      /^`.+`$/.test(part)
        ? `<code>${escaped(part.slice(1, -1))}</code>`
        : escaped(part)
            .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
            .replace(/(?<!\w)[*_]([^*_]+)[*_](?!\w)/g, '<em>$1</em>')
            .replace(/\[([^\]]+)\]\((https:[^)\s]+)\)/g, '<a href="$2">$1</a>'),
    )
    .join('');
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
  if (heading) return `<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`;
  if (first.startsWith('|')) return table(lines);
  if (first.startsWith('```')) return `<pre tabindex="0"><code>${escaped(lines.slice(1, -1).join('\n'))}</code></pre>`;
  if (/^[-*] /.test(first)) {
    const items = lines.join('\n').split(/\n(?=[-*] )/);
    return `<ul>${items.map((item) => `<li>${inline(item.slice(2))}</li>`).join('\n')}</ul>`;
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

/** Returns an HTML page, which is stored in a subfolder of the site. */
export function markdownPage(title, markdown) {
  const body = blocksOf(markdown.replace(/^---\n[\s\S]*?\n---\n/, '')).map(block);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${escaped(title)}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="../icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="../style.css" />
  </head>
  <body class="card-page">
    <p><a href="../">Peruse</a></p>
    <main>
${body.join('\n')}
    </main>
  </body>
</html>
`;
}
