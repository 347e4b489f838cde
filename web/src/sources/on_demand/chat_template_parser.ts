// Parses chat templates: Jinja with trim_blocks and lstrip_blocks, as transformers sets it.
import { concatenated, type Expression, isEqual, isTrue, kFilters, kTests, memberOf, refuse } from './chat_template_values.js';

export type Statement =
  | { kind: 'text'; text: string }
  | { kind: 'print'; value: Expression }
  | { kind: 'set'; name: string; value: Expression }
  | { kind: 'if'; branches: { test: Expression; body: Statement[] }[] }
  | { kind: 'for'; name: string; items: Expression; body: Statement[] };

/** A piece of the template: text, or the inside of a tag. */
interface Piece {
  kind: 'text' | 'print' | 'block';
  text: string;
}

/** {{ }}, {% %} or {# #}. A comment may contain tags of the other kinds. */
const kTag = /\{(?:(\{)([-+]?)(.*?)([-+]?)\}|([%#])([-+]?)(.*?)([-+]?)\5)\}/gs;

function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trims = false; // whether the tag before removes the white space after it
  let isBlock = false; // whether the tag before is a block or a comment, after which one line end goes
  const addText = (text: string, tag?: { kind: string; sign: string }) => {
    let rest = trims ? text.trimStart() : isBlock ? text.replace(/^\n/, '') : text;
    if (tag?.sign === '-') rest = rest.trimEnd();
    else if (tag && tag.kind !== '{' && tag.sign !== '+') {
      const line = rest.lastIndexOf('\n') + 1;
      const isWholeLine = line > 0 || at === 0 || (isBlock && text !== rest);
      if (isWholeLine && /^[ \t]*$/.test(rest.slice(line))) rest = rest.slice(0, line);
    }
    if (rest !== '') pieces.push({ kind: 'text', text: rest });
  };
  const whole = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  for (const match of whole.matchAll(kTag)) {
    const [all, ...groups] = match;
    const [kind, sign, inside, end] = groups.filter((group) => group !== undefined) as [string, string, string, string];
    addText(whole.slice(at, match.index), { kind, sign });
    if (kind !== '#') pieces.push({ kind: kind === '{' ? 'print' : 'block', text: inside.trim() });
    at = match.index + all.length;
    trims = end === '-';
    isBlock = kind !== '{' && end !== '+';
  }
  addText(whole.slice(at));
  return pieces;
}

const kTokens = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\d+)|([A-Za-z_]\w*)|(==|!=|[|.()[\],=~+-]))/gy;

type Token = { kind: 'string' | 'number' | 'name' | 'sign'; text: string };

const kEscapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  kTokens.lastIndex = 0;
  const source = text.trimEnd();
  while (kTokens.lastIndex < source.length) {
    const match = kTokens.exec(source);
    if (match === null) return refuse(JSON.stringify(text));
    const [, quoted, number, name, sign] = match;
    if (quoted !== undefined) {
      const inner = quoted.slice(1, -1).replace(/\\(.)/gs, (_, sign: string) => kEscapes[sign] ?? sign);
      tokens.push({ kind: 'string', text: inner });
    } else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else tokens.push({ kind: 'sign', text: sign! });
  }
  return tokens;
}

const kConstants: Readonly<Record<string, boolean | null>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

/** Reads expressions, from `or` down to names. */
class Reader {
  readonly #tokens: Token[];
  #at = 0;

  constructor(readonly text: string) {
    this.#tokens = tokensOf(text);
  }

  whole(): Expression {
    return this.#ended(this.#conditional());
  }

  /** The list of a loop, after which an `if` would choose among its items. */
  list(): Expression {
    return this.#ended(this.#or());
  }

  #ended(value: Expression): Expression {
    return this.#at < this.#tokens.length ? refuse(JSON.stringify(this.text)) : value;
  }

  /** Takes the next token if it has this text and is not a string. */
  take(text: string): boolean {
    const next = this.#tokens[this.#at];
    if (next === undefined || next.kind === 'string' || next.text !== text) return false;
    this.#at += 1;
    return true;
  }

  name(): string {
    const next = this.#tokens[this.#at];
    if (next?.kind !== 'name') return refuse(JSON.stringify(this.text));
    this.#at += 1;
    return next.text;
  }

  #expect(text: string): void {
    if (!this.take(text)) refuse(JSON.stringify(this.text));
  }

  #conditional(): Expression {
    const value = this.#or();
    if (!this.take('if')) return value;
    const test = this.#or();
    const other: Expression = this.take('else') ? this.#conditional() : () => undefined;
    return (scope) => (isTrue(test(scope)) ? value : other)(scope);
  }

  #or(): Expression {
    const left = this.#and();
    if (!this.take('or')) return left;
    const right = this.#or();
    return (scope) => {
      const value = left(scope);
      return isTrue(value) ? value : right(scope);
    };
  }

  #and(): Expression {
    const left = this.#not();
    if (!this.take('and')) return left;
    const right = this.#and();
    return (scope) => {
      const value = left(scope);
      return isTrue(value) ? right(scope) : value;
    };
  }

  #not(): Expression {
    if (!this.take('not')) return this.#comparison();
    const value = this.#not();
    return (scope) => !isTrue(value(scope));
  }

  #comparison(): Expression {
    const left = this.#sum();
    for (const [sign, wanted] of [
      ['==', true],
      ['!=', false],
    ] as const) {
      if (!this.take(sign)) continue;
      const right = this.#sum();
      return (scope) => isEqual(left(scope), right(scope)) === wanted;
    }
    if (!this.take('is')) return left;
    const isNegated = this.take('not');
    const name = this.name();
    const test = kTests[name] ?? refuse(`the test ${name}`);
    return (scope) => test(left(scope)) !== isNegated;
  }

  #sum(): Expression {
    let left = this.#filtered();
    while (this.take('~') || this.take('+')) {
      const [first, second] = [left, this.#filtered()];
      left = (scope) => concatenated(first(scope), second(scope));
    }
    return left;
  }

  #filtered(): Expression {
    let value = this.#postfix();
    while (this.take('|')) {
      const name = this.name();
      const filter = kFilters[name] ?? refuse(`the filter ${name}`);
      const inner = value;
      const { given, named } = this.take('(') ? this.#arguments() : { given: [], named: [] };
      value = (scope) =>
        filter(
          inner(scope),
          given.map((argument) => argument(scope)),
          new Map(named.map(([key, argument]) => [key, argument(scope)])),
        );
      value = this.#members(value);
    }
    return value;
  }

  #arguments(): { given: Expression[]; named: [string, Expression][] } {
    const given: Expression[] = [];
    const named: [string, Expression][] = [];
    while (!this.take(')')) {
      const next = this.#tokens[this.#at + 1];
      if (this.#tokens[this.#at]?.kind === 'name' && next?.kind === 'sign' && next.text === '=') {
        const key = this.name();
        this.#expect('=');
        named.push([key, this.#conditional()]);
      } else given.push(this.#conditional());
      if (!this.take(',') && this.#tokens[this.#at]?.text !== ')') refuse(JSON.stringify(this.text));
    }
    return { given, named };
  }

  #postfix(): Expression {
    return this.#members(this.#primary());
  }

  #members(start: Expression): Expression {
    let value = start;
    for (;;) {
      const inner = value;
      if (this.take('.')) {
        const key = this.name();
        value = (scope) => memberOf(inner(scope), key);
      } else if (this.take('[')) {
        const key = this.#conditional();
        this.#expect(']');
        value = (scope) => memberOf(inner(scope), key(scope));
      } else return value;
    }
  }

  #primary(): Expression {
    if (this.take('(')) {
      const value = this.#conditional();
      this.#expect(')');
      return value;
    }
    const isNegative = this.take('-');
    const next = this.#tokens[this.#at++];
    if (next?.kind === 'number') return () => (isNegative ? -1 : 1) * Number(next.text);
    if (isNegative || next === undefined || next.kind === 'sign') return refuse(JSON.stringify(this.text));
    if (next.kind === 'string') return () => next.text;
    const constant = kConstants[next.text];
    return constant === undefined ? (scope) => scope.get(next.text) : () => constant;
  }
}

/** Parses statements up to one of `ends`, which it returns with the rest of its tag. */
function parseBody(pieces: Piece[], ends: readonly string[]): { body: Statement[]; end: string; rest: string } {
  const body: Statement[] = [];
  for (;;) {
    const piece = pieces.shift();
    if (piece === undefined) return ends.length === 0 ? { body, end: '', rest: '' } : refuse(`a block without ${ends.at(-1)}`);
    if (piece.kind === 'text') body.push({ kind: 'text', text: piece.text });
    else if (piece.kind === 'print') body.push({ kind: 'print', value: new Reader(piece.text).whole() });
    else {
      const [, word = '', rest = ''] = /^(\w*)\s*(.*)$/s.exec(piece.text) ?? [];
      if (ends.includes(word)) return { body, end: word, rest };
      body.push(parseBlock(word, rest, pieces));
    }
  }
}

function parseBlock(word: string, rest: string, pieces: Piece[]): Statement {
  if (word === 'set') {
    const [, name = refuse(`set ${rest}`), value = ''] = /^([A-Za-z_]\w*)\s*=(?!=)(.*)$/s.exec(rest) ?? [];
    return { kind: 'set', name, value: new Reader(value).whole() };
  }
  if (word === 'for') {
    const [, name = refuse(`for ${rest}`), items = ''] = /^([A-Za-z_]\w*)\s+in\s+(.*)$/s.exec(rest) ?? [];
    return { kind: 'for', name, items: new Reader(items).list(), body: parseBody(pieces, ['endfor']).body };
  }
  if (word !== 'if') return refuse(`the statement ${word}`);
  const branches: { test: Expression; body: Statement[] }[] = [];
  let test = new Reader(rest).whole();
  for (;;) {
    const { body, end, rest: next } = parseBody(pieces, ['elif', 'else', 'endif']);
    branches.push({ test, body });
    if (end === 'endif') return { kind: 'if', branches };
    test = end === 'elif' ? new Reader(next).whole() : () => true;
  }
}

export function parseTemplate(template: string): Statement[] {
  return parseBody(piecesOf(template), []).body;
}
