// The current call as code: what a visitor would write to get the same answer on a page of their own.
import { make } from './dom.js';
import type { Settings } from './model_picker.js';

export interface CallCode {
  readonly task: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** JavaScript source text that literal() inserts unquoted. */
export class Code {
  constructor(readonly text: string) {}
}

/** A value as JavaScript. Long texts are not shortened, so that the code gives the page's result. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (value instanceof Code) return value.text;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{ ${fields.map(([key, field]) => `${key}: ${literal(field)}`).join(', ')} }`;
}

export function codeOf({ task, name, args }: CallCode, { source, device, dtype, weights }: Partial<Settings>): string {
  const options = { ...(device === 'cpu' ? {} : { device }), ...(dtype === 'auto' ? {} : { dtype }), ...(weights ? { weights } : {}) };
  const model = source === undefined ? "'user/model'" : typeof source === 'string' ? literal(source) : 'files';
  const rest = Object.keys(options).length > 0 ? `, ${literal(options)}` : '';
  return [
    "import { pipeline } from 'peruse';",
    '',
    ...(model === 'files' ? ['const files = [...input.files]; // config.json, tokenizer.json, model.safetensors'] : []),
    `const ${name} = await pipeline('${task}', ${model}${rest});`,
    `const result = await ${name}(${args.map(literal).join(', ')});`,
    'console.log(result);',
  ].join('\n');
}

/** The code as lines that a style can indent. */
export function shownCode(code: string): HTMLElement[] {
  return code.split('\n').map((line, index, all) => make('span', 'line', index < all.length - 1 ? `${line}\n` : line));
}

export function linesOf(text: string): string {
  return [
    "import { pipeline } from 'peruse';",
    '',
    '// The folder with the saved files:',
    "const classify = await pipeline('text-classification', '/my-model/');",
    `const [best] = await classify(${literal(text)});`,
    'console.log(best.label, best.score);',
    'await classify.dispose();',
  ].join('\n');
}
