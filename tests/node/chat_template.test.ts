// Chat templates of rankers, rendered as transformers renders them (tests/reference/make_ranking_fixtures.py).
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pairTemplate } from '../../web/src/sources/on_demand/chat_template.js';

const kFolder = fileURLToPath(new URL('../fixtures/ranking/', import.meta.url));
const kNames = { eos_token: '<|endoftext|>' };

interface Case {
  template: string;
  plain: unknown;
  prompted: unknown;
}

test('templates give the parts that transformers renders', () => {
  const cases = JSON.parse(readFileSync(`${kFolder}templates.json`, 'utf8')) as Case[];
  expect(cases.length).toBeGreaterThan(5);
  for (const { template, plain, prompted } of cases) {
    expect({ template, ...pairTemplate(template, 'flat', kNames) }).toEqual({ template, plain, prompted });
  }
});

test.each(['qwen3-reranker', 'qwen3-true-only'])('%s', (name) => {
  const template = readFileSync(`${kFolder}${name}/chat_template.jinja`, 'utf8');
  const expected = JSON.parse(readFileSync(`${kFolder}${name}/pair_template.json`, 'utf8')) as Case;
  for (const format of [undefined, 'auto', name === 'qwen3-reranker' ? 'flat' : 'structured']) {
    expect(pairTemplate(template, format, kNames)).toEqual(expected);
  }
});

test.each([
  ['{% macro f() %}{% endmacro %}', 'the statement macro'],
  ['{{ messages | tojson }}', 'the filter tojson'],
  ['{% if messages %}a', 'a block without endif'],
  ['{{ messages[0].content | trim }}', 'trim on the text of a message'],
  ["{% if messages[0].content == 'x' %}a{% endif %}", 'a comparison with the text of a message'],
  ['{% if messages[0].content is divisibleby %}a{% endif %}', 'the test divisibleby'],
  ['{{ 1 + 2 }}', 'arithmetic'],
  ['{{ messages }}', 'printing anything but a text'],
  ['{{ f(1) }}', '"f(1)"'],
  ['{{ 1 ? 2 }}', '"1 ? 2"'],
  ["{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}", `"messages if m.role != 'system'"`],
  ['{{ "open }}', '"\\"open"'],
])('%s is refused by name', (template, what) => {
  expect(() => pairTemplate(template, 'flat', {})).toThrow(
    expect.objectContaining({ code: 'unsupported', message: `The chat template: ${what} is not supported.` }),
  );
});

test('a template for conversations only, which drops the query and the document, is refused', () => {
  const template = "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}";
  expect(() => pairTemplate(template, 'flat', {})).toThrow('cannot carry a query and a document: the content of query');
});
