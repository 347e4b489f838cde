// Texts of files that `peruse index` reads: Markdown, HTML, plain text, and lines of JSON.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { describeError, PeruseError } from '../errors.js';
import type { IndexItem } from '../search/search_types.js';

const kExtensions = /\.(md|markdown|mdx|html?|txt|jsonl)$/i;

/** The files that the arguments name: files, folders (all files in them with a known extension), and patterns with * and **. */
export async function filesOf(args: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const arg of args) {
    const pattern = arg.split(sep).join('/');
    const files = /[*?]/.test(pattern) ? await matching(pattern) : await filesIn(arg);
    if (files.length === 0) throw new PeruseError('not_found', `No file matches '${arg}'.`);
    for (const file of files) found.add(file);
  }
  return [...found];
}

async function filesIn(path: string): Promise<string[]> {
  const info = await stat(path).catch((error: unknown) => {
    throw new PeruseError('not_found', `${path} can't be read: ${describeError(error)}`, { cause: error });
  });
  if (!info.isDirectory()) return [path];
  return (await walk(path)).filter((file) => kExtensions.test(file));
}

async function walk(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // A folder that was named may itself be in node_modules.
  return files.filter((file) => !relative(folder, file).split(sep).includes('node_modules')).sort();
}

/** `**` matches any number of folders, `*` and `?` match within a name. Names that begin with a dot match only if the pattern says so. */
async function matching(pattern: string): Promise<string[]> {
  const parts = pattern.split('/');
  const fixed = parts
    .slice(
      0,
      parts.findIndex((part) => /[*?]/.test(part)),
    )
    .join('/');
  const folder = fixed || (pattern.startsWith('/') ? '/' : '.');
  const expression = parts.map((part, place) =>
    part === '**' ? (place === parts.length - 1 ? '.*' : '(?:[^/.][^/]*/)*') : nameOf(part, place < parts.length - 1),
  );
  const regex = new RegExp(`^${expression.join('')}$`);
  const shown = (file: string) => (folder === '.' ? relative('.', file) : file).split(sep).join('/');
  return (await walk(folder).catch(() => [])).map(shown).filter((file) => regex.test(file));
}

function nameOf(part: string, isFolder: boolean): string {
  const literal = part
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return (/^[*?]/.test(part) ? '(?!\\.)' : '') + literal + (isFolder ? '/' : '');
}

/** Returns the texts of a file. An id is the file's path, with slashes; lines of JSON contain { id, text, metadata }. */
export async function itemsOf(file: string): Promise<IndexItem[]> {
  const content = await readFile(file, 'utf8');
  if (/\.jsonl$/i.test(file))
    return content.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [rowOf(line, file, index + 1)]));
  const { text, title } = /\.html?$/i.test(file) ? htmlText(content) : markdownText(content);
  if (text.trim() === '') return [];
  return [{ id: file.split(sep).join('/'), text, metadata: title === undefined ? {} : { title } }];
}

function rowOf(line: string, file: string, number: number): IndexItem {
  try {
    return JSON.parse(line) as IndexItem;
  } catch (error) {
    throw new PeruseError(
      'invalid_argument',
      `${file}, line ${number} is not JSON. Each line must be an object such as {"id": "...", "text": "..."}.`,
      { cause: error },
    );
  }
}

function markdownText(content: string): { text: string; title?: string } {
  const front = /^---\r?\n[\s\S]*?\n---\r?\n/.exec(content)?.[0] ?? '';
  const text = content.slice(front.length);
  const title = /^title:\s*["']?(.+?)["']?\s*$/m.exec(front)?.[1] ?? /^#\s+(.+?)\s*#*$/m.exec(text)?.[1];
  return { text, ...(title === undefined ? {} : { title }) };
}

const kEntities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function htmlText(content: string): { text: string; title?: string } {
  const title = /<title[^>]*>([\s\S]*?)<\/title>/i.exec(content)?.[1];
  const main = /<main[\s>][\s\S]*<\/main>/i.exec(content)?.[0] ?? /<body[\s>][\s\S]*<\/body>/i.exec(content)?.[0] ?? content;
  const text = main
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<(script|style|nav|template|noscript|title)[\s>][\s\S]*?<\/\1\s*>/gi, '')
    .replace(/<\/?(p|div|section|article|h[1-6]|li|ul|ol|table|tr|pre|blockquote|br|hr|main)(\s[^>]*)?>/gi, '\n\n')
    .replace(/<[^>]*>/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n\s*\n\s*/g, '\n\n')
    .trim();
  return { text: decoded(text), ...(title === undefined ? {} : { title: decoded(title.trim()) }) };
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return kEntities[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
