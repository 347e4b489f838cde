// What an editor shows for a call: its docstring.
import { expect, test } from 'vitest';
import { languageService } from './support/language_service.js';

const kModel = (task: string) => `import { pipeline } from 'peruse';\nconst run = await pipeline('${task}', 'user/model');\n`;

test.each([
  ['text-classification', "run/*here*/('a')", /^Returns the best labels of a text/],
  ['token-classification', "run/*here*/(['a', 'b'])", /^Returns the labelled tokens/],
  ['question-answering', "run/*here*/('q', 'c')", /^Returns the answer in the context/],
  ['zero-shot-classification', "run/*here*/('a', ['b'])", /^Returns the labels of a text with their scores/],
  ['zero-shot-token-classification', "run/*here*/('a', ['b'])", /^Returns the parts of a text/],
  ['structured-extraction', "run/*here*/('a', {})", /^Returns what a text contains of the schema/],
  ['fill-mask', "run/*here*/('a')", /^Returns words for the mask/],
  ['feature-extraction', "run/*here*/('a', { pooling: 'mean' })", /^Returns the vectors of a text/],
  ['text-ranking', "run/*here*/('q', ['a'])", /^Returns the documents, best first/],
  ['multiple-choice', "run/*here*/('a', ['b'])", /^Returns the choices/],
  ['replaced-token-detection', "run/*here*/('a')", /^Returns an item for each token/],
  ['redact', "run/*here*/('a')", /^Replaces private details/],
  ['text-classification', "run.inspect/*here*/('a')", /^Returns tokens, attention maps/],
  ['text-classification', "run.explain/*here*/('a')", /^.+/],
  ['text-classification', "run.stream/*here*/(['a'])", /^Yields a result for each input/],
  ['text-classification', 'run.dispose/*here*/()', /^Frees the model/],
  ['text-classification', 'run.memory/*here*/()', /^Reports/],
])('%s: %s', (task, call, shown) => {
  const editor = languageService(`${kModel(task)}await ${call};`);
  expect(editor.errors()).toEqual([]);
  expect(editor.hover()).toMatch(shown);
});

test.each([
  ['peruse', "pipeline/*here*/('redact', 'user/model')", /^Loads a model/],
  ['peruse', "describe/*here*/('user/model')", /^Describes a model/],
  ['peruse', 'createRedactor/*here*/({ patterns: true })', /^Returns a redactor/],
  ['peruse', "restore/*here*/('a', {})", /^Replaces each placeholder/],
  ['peruse/redact', 'createRedactor/*here*/({ patterns: true })', /^.+/],
  ['peruse/teach', "teach/*here*/('text-classification', 'user/model', [])", /^Trains a model/],
  ['peruse/teach', "pretrain/*here*/('mlm', 'user/model', [])", /^Continues a model/],
])('%s: %s', (entry, call, shown) => {
  const [name] = call.split('/*');
  const editor = languageService(`import { ${name} } from '${entry}';\nawait ${call};`);
  expect(editor.errors()).toEqual([]);
  expect(editor.hover()).toMatch(shown);
});

test.each([
  ["pipeline('text-classification', 'user/model', { dtyp: 'q8' })", /'dtyp' does not exist in type .*Did you mean to write 'dtype'/],
  ["pipeline('text-classification', 'user/model', { dtype: 'q9' })", /'"q9"' is not assignable to type .*"q8"/],
  ["pipeline('text-classification', 'user/model', { patterns: true })", /'patterns' does not exist/],
  ["pipeline('text-clasification', 'user/model')", /'"text-clasification"' is not assignable/],
])('the compiler names the fault of %s', (call, fault) => {
  const errors = languageService(`import { pipeline } from 'peruse';\nawait ${call};/*here*/`).errors();
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(fault);
});
