// The places of a C++ file that can be changed: operators and truth values. clang-format writes comparisons and sums with spaces, and the brackets of
// templates without, so no parser is needed: the compiler refuses what is misread.

const kOthers = { '==': '!=', '!=': '==', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&', '+': '-', '-': '+' };

/** Operators by how strongly they bind; one in the same row ends an operand on the right only. */
const kStrengths = [['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '<=', '>', '>='], ['<<', '>>'], ['+', '-'], ['*', '/', '%']];
const strengthOf = (operator) => kStrengths.findIndex((row) => row.includes(operator));

/** Lines without code that tests can reach, or that the compiler computes: comments, includes, templates, checks of Peruse's own faults. */
const kOther = /^\s*(\/\/|#|template|static_assert|PERUSE_CHECK|using |case )|\bconstexpr\b/;

/** Loops over whole vectors: one vector fewer leaves more to the loop after them, which computes the same. */
const kVectorLoop = / <= [\w.]+; \w+ \+= (kLanes|[2-9]\d*)\)/;

/** Lines that return when memory runs out. Only WebAssembly has tests that let allocations fail (tests/native/memory). */
const kNoMemory = /!(Try[A-Z]\w*|Resize|Reserve)\(.* return (true|false);/;

/** A sum of strings: with a minus it does not compile. */
const kTexts = /"|std::to_string/;

/** `text` with spaces instead of comments, strings and characters. */
function codeOf(text) {
  return text.replace(/R"(\w*)\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<!\w)'(?:[^'\\\n]|\\.)*'|\/\/.*/g, (part) =>
    part.replace(/[^\n]/g, ' '),
  );
}

/** An error bound of an operation, which only tests compute: with a smaller one they are stricter. */
const kBound = /^std::vector<double> Bound\(/;

const kOpening = '([{';
const kClosing = ')]}';

/** Whether an operand ends at the operator or word `token`, for an operator of `strength`. */
function endsAt(token, strength, onTheRight) {
  if (/^(\?|:|[-+*/%&|^]?=|<<=|>>=|return|else|co_return|throw)$/.test(token)) return true;
  const other = strengthOf(token);
  return other >= 0 && (other < strength || (onTheRight && other === strength));
}

/** Where the operand that ends before `at` begins. */
function beginOf(code, at, strength) {
  let depth = 0;
  for (let i = at - 1; i >= 0; --i) {
    if (kClosing.includes(code[i])) ++depth;
    else if (kOpening.includes(code[i]) && depth-- === 0) return i + 1;
    else if (depth > 0) continue;
    else if (',;'.includes(code[i])) return i + 1;
    else if (/\s/.test(code[i])) {
      const [token] = /^\S*/.exec(code.slice(i + 1, i + 12)) ?? [''];
      if (token !== '' && endsAt(token, strength, false)) return i + 1 + token.length;
    }
  }
  return 0;
}

/** Where the operand that begins at `at` ends. */
function endOf(code, at, strength) {
  let depth = 0;
  for (let i = at; i < code.length; ++i) {
    if (kOpening.includes(code[i])) ++depth;
    else if (kClosing.includes(code[i]) && depth-- === 0) return i;
    else if (depth > 0) continue;
    else if (',;'.includes(code[i])) return i;
    else if (/\s/.test(code[i])) {
      const [token] = /^\S*/.exec(code.slice(i + 1, i + 12)) ?? [''];
      if (token !== '' && endsAt(token, strength, true)) return i;
    }
  }
  return code.length;
}

const trimmed = (text, start, end) => {
  while (/\s/.test(text[start])) ++start;
  while (/\s/.test(text[end - 1])) --end;
  return [start, end];
};

/** @returns {import('./places.mjs').Place[]} `change` is a line, and in brackets the operator and what it becomes. */
export function placesIn(text) {
  const code = codeOf(text);
  const places = [];
  let at = 0;
  let isBound = false;
  for (const [index, line] of text.split('\n').entries()) {
    isBound = kBound.test(line) || (isBound && line !== '}');
    const own = code.slice(at, at + line.length);
    const add = (start, end, token, other, mutated) =>
      places.push({ start, end, line: index + 1, change: `${line.trim()} (${token} -> ${other})`, mutated });
    if (!isBound && !kOther.test(line) && !kVectorLoop.test(line)) {
      for (const { 1: token, index: found } of own.matchAll(/ (==|!=|<=?|>=?|&&|\|\||\+|-)(?= |$)/g)) {
        if ((token === '+' && kTexts.test(line)) || (token === '||' && kNoMemory.test(own))) continue;
        const middle = at + found + 1;
        const strength = strengthOf(token);
        const [start, left] = trimmed(text, beginOf(code, middle, strength), middle);
        const [right, end] = trimmed(text, middle + token.length, endOf(code, middle + token.length, strength));
        const changed = `${text.slice(start, left)} ${kOthers[token]} ${text.slice(right, end)}`.replace(/\s*\n\s*/g, ' '); // one line
        add(start, end, token, kOthers[token], (guard) => `(${guard} ? (${changed}) : (${text.slice(start, end)}))`);
      }
      for (const { 1: value, index: found } of own.matchAll(/\breturn (true|false);/g)) {
        if (kNoMemory.test(own)) continue;
        const start = at + found + 'return '.length;
        const other = value === 'true' ? 'false' : 'true';
        add(start, start + value.length, value, other, (guard) => `(${guard} ? ${other} : ${value})`);
      }
    }
    at += line.length + 1;
  }
  return places;
}
