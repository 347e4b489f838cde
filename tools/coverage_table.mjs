#!/usr/bin/env node
// Writes docs/internals/covered-configurations.md from the cases.json of tests/fixtures/{tiny,conv}. With --check, only compares the page.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

const kPage = join(root, 'docs/internals/covered-configurations.md');
const kStorage = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' };

export function coverageTable() {
  const list = (folder) => JSON.parse(readFileSync(join(root, 'tests/fixtures', folder, 'cases.json'), 'utf8'));
  const { versions, cases: transformersCases } = list('tiny');
  const cases = [...transformersCases, ...list('conv').cases];
  const libraries = Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  const rows = cases.map(
    ({ about, model, dtype, head, transformers }) =>
      `| ${about}${transformers ? ` (${transformers})` : ''} | \`${model}\`${head === 'of the class' ? '' : ` + ${head}`} | ${kStorage[dtype] ?? dtype} |`,
  );
  return `# Covered configurations

Each row is a tiny random checkpoint in \`tests/fixtures/tiny\` or \`conv\`, tested with four texts of different lengths. The CPU
backends reproduce every hidden state and the logits to 1e-5, natively and in WebAssembly. DeBERTa v1's talking heads throw
\`unsupported\`. The expected values are from ${libraries}, or from the version of transformers that a row names;
those of lightweight and dynamic convolution, which transformers lacks, are from \`tests/reference/make_conv_models.py\`.

This page is generated from the list of tested configurations: \`node tools/coverage_table.mjs\`.

| configuration | class | stored as |
|---|---|---|
${rows.join('\n')}
`;
}

await runAsProgram(import.meta.url, async () => {
  const page = coverageTable();
  if (!process.argv.includes('--check')) writeFileSync(kPage, page);
  else if (readFileSync(kPage, 'utf8') !== page) throw new Error('docs/internals/covered-configurations.md is out of date');
});
