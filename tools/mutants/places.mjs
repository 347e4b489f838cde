// The places of a TypeScript file that can be changed, found in its syntax tree.
import ts from 'typescript';

const kOthers = new Map([
  ['===', '!=='],
  ['!==', '==='],
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['&&', '||'],
  ['||', '&&'],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
]);

/** Calls whose absence tests need not notice. */
const kUnimportant = /^(console\.|super\()/;

/**
 * A place: `text` of it becomes `changed`, and `mutated(guard)` is a text that is one or the other, by the condition `guard`.
 * @typedef {{ start: number, end: number, line: number, change: string, mutated: (guard: string) => string }} Place
 */

/** @returns {Place[]} */
export function placesIn(text, name) {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
  const places = [];
  const add = (node, changed, mutated) => {
    const [start, end] = [node.getStart(file), node.getEnd()];
    const before = text.slice(start, end).replace(/\s+/g, ' ');
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    places.push({ start, end, line, change: `${before} -> ${changed.replace(/\s+/g, ' ')}`, mutated });
  };
  const either = (node, changed) =>
    add(node, changed, (guard) => `(${guard} ? (${changed}) : (${text.slice(node.getStart(file), node.getEnd())}))`);
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const other = kOthers.get(node.operatorToken.getText(file));
      const isText = [node.left, node.right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
      if (other && !isText) either(node, `${node.left.getText(file)} ${other} ${node.right.getText(file)}`);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      either(node, node.operand.getText(file));
    } else if (ts.isConditionalExpression(node)) {
      const [then, other] = [node.whenTrue, node.whenFalse].map((one) => one.getText(file));
      either(node, `${node.condition.getText(file)} ? ${other} : ${then}`);
    } else if (ts.isIfStatement(node) && !ts.isBinaryExpression(node.expression) && !ts.isPrefixUnaryExpression(node.expression)) {
      either(node.expression, `!(${node.expression.getText(file)})`);
    } else if (ts.isReturnStatement(node) && /^(true|false)$/.test(node.expression?.getText(file) ?? '')) {
      either(node.expression, node.expression.getText(file) === 'true' ? 'false' : 'true');
    } else if (ts.isExpressionStatement(node) && isCall(node.expression) && !kUnimportant.test(node.getText(file))) {
      add(node, '(nothing)', (guard) => `{ if (!${guard}) ${node.getText(file)} }`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return places;
}

function isCall(node) {
  const inner = ts.isAwaitExpression(node) || ts.isVoidExpression(node) ? node.expression : node;
  return ts.isCallExpression(inner);
}
