// Parses JSON files of models, because a file may hold anything. Only modules.json, which is a list, is parsed elsewhere (model_files.ts, routes.ts).
import { describeError, PeruseError } from '../errors.js';

/** Parses a file that must hold a JSON object. `where` names it in errors. Throws 'malformed_file'. */
export function parseObject(where: string, content: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(withoutNaN(new TextDecoder('utf-8', { fatal: true }).decode(content)));
  } catch (error) {
    const why = endsEarly(content)
      ? `ends within its JSON, after ${content.length} bytes: fetch it again`
      : `holds no valid JSON: ${describeError(error)}`;
    throw new PeruseError('malformed_file', `${where} ${why}.`, { cause: error });
  }
  if (!isObject(value)) throw new PeruseError('malformed_file', `${where} must hold a JSON object, such as {"key": "value"}.`);
  return value;
}

/** Parses the first of the files, which must hold a JSON object. Without a file, returns an empty object. */
export function firstObject([file]: readonly { name: string; where?: string; content: Uint8Array }[]): Record<string, unknown> {
  return file ? parseObject(file.where ?? file.name, file.content) : {};
}

/** Replaces NaN and Infinity, which Python writes as numbers, by null. */
function withoutNaN(json: string): string {
  if (!/NaN|Infinity/.test(json)) return json;
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/gs, (part) => (part.startsWith('"') ? part : 'null'));
}

/** Whether a file is empty, or begins like an object but does not end like one. */
function endsEarly(content: Uint8Array): boolean {
  const text = new TextDecoder().decode(content).trim();
  return text === '' || (text.startsWith('{') && !text.endsWith('}'));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// String() and Number() throw for an object with its own member "toString".
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown, missing = 0): number {
  return typeof value === 'number' ? value : missing;
}
