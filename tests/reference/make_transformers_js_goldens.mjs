#!/usr/bin/env node
// Writes tests/fixtures/transformers_js/expected.json, what transformers.js computes in the cases of transformers_js_cases.mjs, and names.txt, its names and
// the methods of its tensors.
//   node make_transformers_js_goldens.mjs <folder whose node_modules has @huggingface/transformers>
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { kPipelineCases, kTokenizerCases, runPipelineCase, runTokenizerCase } from './transformers_js_cases.mjs';

const kFixtures = fileURLToPath(new URL('../fixtures/transformers_js/', import.meta.url));
const folder = join(resolve(process.argv[2] ?? '.'), 'node_modules/@huggingface/transformers');
const { version, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const library = await import(pathToFileURL(join(folder, exports.node.import.default)).href);

library.env.localModelPath = kFixtures;
library.env.allowRemoteModels = false;
const options = { dtype: 'fp32' };
const pipelines = {};
for (const one of kPipelineCases) pipelines[one.name] = await runPipelineCase(library, one, options);
const tokenizers = {};
for (const one of kTokenizerCases) tokenizers[one.name] = await runTokenizerCase(library, one, {});
writeFileSync(join(kFixtures, 'expected.json'), `${JSON.stringify({ version, pipelines, tokenizers })}\n`);
const methods = Object.getOwnPropertyNames(library.Tensor.prototype).filter((name) => /^[a-z]/.test(name) && name !== 'constructor');
const isMethod = (name) => typeof Object.getOwnPropertyDescriptor(library.Tensor.prototype, name).value === 'function';
const names = [...Object.keys(library), ...methods.filter(isMethod).map((name) => `Tensor.${name}`)].sort();
writeFileSync(join(kFixtures, 'names.txt'), `${names.join('\n')}\n`);
console.log(`transformers.js ${version}: ${kPipelineCases.length} pipelines, ${kTokenizerCases.length} tokenizers`);
