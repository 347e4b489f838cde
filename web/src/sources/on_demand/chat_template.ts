// Renders a chat template of transformers once, with names in place of the texts: a template with only these names in it is a list of parts,
// of which the engine makes each pair's text. Reads the part of Jinja that templates of rankers use; anything else throws 'unsupported'.
import { PeruseError } from '../../errors.js';
import { parseTemplate, type Statement } from './chat_template_parser.js';
import { isTrue, Joined, listOf, partsOf, Scope, type TemplatePart, type Value } from './chat_template_values.js';

/** How sentence-transformers passes the content of a message: as a text, or as a list of one typed text. */
export type MessageFormat = 'flat' | 'structured';

function run(statements: readonly Statement[], scope: Scope, out: TemplatePart[]): void {
  for (const statement of statements) {
    if (statement.kind === 'text') out.push(statement.text);
    else if (statement.kind === 'print') out.push(...partsOf(statement.value(scope)));
    else if (statement.kind === 'set') scope.names.set(statement.name, statement.value(scope));
    else if (statement.kind === 'if') run(statement.branches.find(({ test }) => isTrue(test(scope)))?.body ?? [], scope, out);
    else loop(statement, scope, out);
  }
}

function loop({ name, items, body }: Statement & { kind: 'for' }, scope: Scope, out: TemplatePart[]): void {
  const list = listOf(items(scope));
  for (const [index, item] of list.entries()) {
    const facts: [string, Value][] = [
      ['index', index + 1],
      ['index0', index],
      ['first', index === 0],
      ['last', index === list.length - 1],
    ];
    run(body, new Scope(new Map([...scope.names, [name, item], ['loop', new Map(facts)]])), out);
  }
}

function joined(parts: readonly TemplatePart[]): TemplatePart[] {
  const result: TemplatePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (typeof part === 'string' && typeof last === 'string') result[result.length - 1] = last + part;
    else if (part !== '') result.push(part);
  }
  return result;
}

/** Renders the messages of a pair. `names` are what the tokenizer adds, such as eos_token. */
function rendered(
  statements: readonly Statement[],
  roles: readonly ('system' | 'query' | 'document')[],
  format: MessageFormat,
  names: Readonly<Record<string, string>>,
): TemplatePart[] {
  const messages = roles.map((role): Value => {
    const text = new Joined([{ role }]);
    const typed: Value = new Map<string, Value>([
      ['type', 'text'],
      ['text', text],
    ]);
    return new Map<string, Value>([
      ['role', role],
      ['content', format === 'flat' ? text : [typed]],
    ]);
  });
  const out: TemplatePart[] = [];
  run(
    statements,
    new Scope(new Map<string, Value>([...Object.entries(names), ['messages', messages], ['add_generation_prompt', false]])),
    out,
  );
  return joined(out);
}

function formatOf(template: string): MessageFormat {
  const structured = ['content[0]', '.type', "'type'", '"type"', 'message.content['];
  return structured.some((pattern) => template.includes(pattern)) ? 'structured' : 'flat';
}

/** Parts of the text of a query and a document: `plain`, and with a prompt as the system message. */
export function pairTemplate(
  template: string,
  format: string | undefined,
  names: Readonly<Record<string, string>>,
): { plain: TemplatePart[]; prompted: TemplatePart[] } {
  const statements = parseTemplate(template);
  const chosen = format === 'flat' || format === 'structured' ? format : formatOf(template);
  const plain = rendered(statements, ['query', 'document'], chosen, names);
  for (const role of ['query', 'document']) {
    if (plain.some((part) => typeof part !== 'string' && part.role === role)) continue;
    throw new PeruseError(
      'unsupported',
      `The chat template cannot carry a query and a document: the content of ${role} is not in its text.`,
    );
  }
  return { plain, prompted: rendered(statements, ['system', 'query', 'document'], chosen, names) };
}
