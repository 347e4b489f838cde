// Words that models of names mark although they are public: names in code, keys of the keyboard, web sites and files.
import type { Detail } from './details.js';

const kKeys = /^(?:ctrl|control|alt|altgr|option|shift|cmd|command|meta|win|super|fn|esc|strg|maj|umschalt)(?:[+-][\p{L}\d]+)*$/iu;
const kSite = /^[\p{L}\d-]+(?:\.[\p{L}\d-]+)*\.(?:com|org|net|io|dev|app|ai|js|ts|py|rs|go|json|md|txt|html|css|exe|dll|pdf|csv)$/iu;
/** A line of a program: it begins or ends as statements do. */
const kCodeLine =
  /^\s*(?:(?:export|async|public|private|protected|static|final|abstract|pub)\s+)*(?:def|class|function|func|fn|interface|struct|enum|import|from|const|let|var|return|package|namespace|using|#include|elif|else|try|catch|except|SELECT|INSERT|UPDATE)\b.*[(){};:='"<>*]|[;{}]\s*(?:\/\/.*)?$|=>|\)\s*[{:]\s*$|^\s*(?:[$#>]|>>>)\s*\w+/;

/** A word between the names of SQL. */
const kClause = /\b(?:FROM|WHERE|JOIN|INTO|VALUES|SET)\b/;

/** Whether a model's finding is public. Findings of patterns are not judged, and neither are words in quotes. */
export function isPublic(text: string, { start, end }: Detail): boolean {
  const word = wordAround(text, start, end);
  if (kKeys.test(word) || kSite.test(word)) return true;
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', end);
  const line = text.slice(from, to < 0 ? text.length : to);
  if (line.length > 300 || !kCodeLine.test(line)) return false;
  const before = text.slice(from, start);
  const isQuoted = (before.match(/["'`]/g)?.length ?? 0) % 2 === 1;
  const words = text.slice(start, end);
  const isCode = !/[\p{L}\d]\s+[\p{L}\d]+\s+[\p{L}\d]/u.test(words) || kClause.test(words);
  return !isQuoted && !/\/\/|#\s|\/\*|--\s/.test(before) && isCode;
}

function wordAround(text: string, start: number, end: number): string {
  const before = /[^\s"'`()<>[\]{},;]*$/.exec(text.slice(Math.max(0, start - 40), start))![0];
  const after = /^[^\s"'`()<>[\]{},;]*/.exec(text.slice(end, end + 40))![0];
  return (before + text.slice(start, end) + after).replace(/[.:!?]+$/, '');
}
