// Checks the porting page (docs/coming-from-transformers-js.md): its sections, its list of options, the names that it promises, and that every
// statement has a test. What options do is tested in transformers_js_options.test.ts, equal results in transformers_js_equal.test.ts, and programs in
// transformers_js.test.ts.
import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, test } from 'vitest';
import type {
  FeatureExtractionPipeline,
  PipelineType,
  PreTrainedModel,
  PreTrainedTokenizer,
  ProgressCallback,
  ProgressInfo,
  Tensor,
} from '../../web/dist/transformers/index_node.js';
import * as transformers from '../../web/dist/transformers/index_node.js';

const page = readFileSync(new URL('../../docs/coming-from-transformers-js.md', import.meta.url), 'utf8');
const root = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

test('it begins with the quickest trial, and has a section for each way to use transformers.js', () => {
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  expect(sections).toEqual([
    'The quickest trial',
    'A library in node_modules uses transformers.js',
    'My own worker',
    'An extension',
    'TypeScript',
    'v2 code (@xenova/transformers)',
    'Side by side',
    'Settings',
    'Options',
    'Remaining differences',
  ]);
});

/** Options that transformers.js 4.3.2 and 2 document for loads, for calls of the six tasks, and for tokenizers. */
const kLoad =
  'progress_callback config cache_dir local_files_only revision device dtype subfolder use_external_data_format model_file_name session_options quantized';
const kCalls =
  'top_k topk ignore_labels aggregation_strategy hypothesis_template multi_label multi_class return_all_scores pooling normalize quantize precision padding truncation max_length batch_size';
const kTokenizer = 'text_pair padding add_special_tokens truncation max_length return_tensor return_token_type_ids skip_special_tokens';

test('it lists every option', () => {
  const [, options = ''] = /^## Options$([\s\S]*?)^## /m.exec(page) ?? [];
  const [loads = '', calls = '', tokenizers = ''] = options.split(/\n\n(?=\|)/).slice(1);
  for (const [table, names] of [
    [loads, kLoad],
    [calls, kCalls],
    [tokenizers, kTokenizer],
  ] as const) {
    for (const name of names.split(' ')) expect(table, name).toContain(`\`${name}\``);
  }
});

test('names that it promises exist', () => {
  const [, section = ''] = /^## TypeScript$([\s\S]*?)^## /m.exec(page) ?? [];
  const classes = [...section.matchAll(/`(\w+Pipeline)`/g)].map(([, name]) => name!);
  expect(classes).toHaveLength(6);
  for (const name of [...classes, 'AutoTokenizer', 'AutoModel', 'AutoModelForSequenceClassification', 'ModelRegistry', 'Tensor']) {
    expect(transformers, name).toHaveProperty(name);
  }
  expectTypeOf<FeatureExtractionPipeline>().toBeFunction();
  expectTypeOf(transformers.pipeline<'fill-mask'>).returns.resolves.toExtend<{ task: 'fill-mask' }>();
  expectTypeOf<PreTrainedTokenizer>().toBeFunction();
  expectTypeOf<PreTrainedModel<object>>().toBeFunction();
  expectTypeOf<ProgressCallback>().parameter(0).toExtend<ProgressInfo>();
  expectTypeOf<'embeddings'>().toExtend<PipelineType>();
  expectTypeOf<Tensor>().toHaveProperty('tolist');
});

/** Names that only versions 2 and 3 export. */
const kOlder = new Set(
  `DataTypeMap Ernie4_5PreTrainedModel FFT Grok1Tokenizer Idefics3PreTrainedModel PaliGemmaPreTrainedModel Pipeline PretrainedMixin TokenizerModel
  bankers_round dynamicTimeWarping dynamic_time_warping getCacheShapes getTopItems hamming hanning interpolate_data is_chinese_char magnitude max
  medianFilter mel_filter_bank min permute_data round spectrogram window_function`.split(/\s+/),
);

test('all names of transformers.js 4.3.2 exist, and Tensor has its methods', () => {
  const names = readFileSync(new URL('../fixtures/transformers_js/names.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  expect(names.length).toBeGreaterThan(900);
  expect(names.filter((name) => !Object.hasOwn(transformers, name) && !name.startsWith('Tensor.'))).toEqual([]);
  const methods = names.flatMap((name) => name.match(/(?<=^Tensor\.)\w+/) ?? []);
  const tensor = new transformers.Tensor('float32', [1]);
  expect([...kOlder.keys()].filter((name) => !Object.hasOwn(transformers, name))).toEqual([]);
  expect(methods.filter((name) => typeof (tensor as unknown as Record<string, unknown>)[name] !== 'function')).toEqual([]);
});

test('the tarballs have the names that npm pack gives them', () => {
  for (const [tarball] of page.matchAll(/[\w-]+-\d+\.\d+\.\d+\.tgz/g))
    expect(tarball).toMatch(new RegExp(`^peruse(-transformers)?-${root.version}.tgz$`));
  expect(readFileSync(new URL('../../tools/tarball.mjs', import.meta.url), 'utf8')).toContain(
    "tarballFolder = join(root, 'build/tarballs')",
  );
});

/** Sentences of the text, and rows of tables. Code is tested by docs_run.test.ts and alias.test.ts. */
function statementsOf(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '\n').replace(/<table>[\s\S]*?<\/table>/g, '');
  const parts = prose.split(/\n\n|\n(?=\|)/).map((part) => part.trim());
  const isText = (part: string) => part !== '' && !/^#|^\|[-| ]+\|$/.test(part);
  return parts
    .filter(isText)
    .flatMap((part) => (part.startsWith('|') ? [part] : part.replace(/\s+/g, ' ').split(/(?<=[.:])\** (?=[A-Z`[*])/)));
}

const kTests = JSON.parse(readFileSync(new URL('porting_statements.json', import.meta.url), 'utf8')) as Record<string, string>;

test('every statement has a test: write a new one, and its statement into porting_statements.json', () => {
  expect(Object.keys(kTests)).toEqual(statementsOf(page));
  const claims = Object.values(kTests).filter((place) => place !== 'no claim'); // heads of tables, and what leads to code
  expect(claims.length).toBeGreaterThan(75);
  for (const place of new Set(claims)) {
    const [, file, title] = /^(tests\/\S+\.ts): (.+)$/.exec(place)!;
    const code = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').replaceAll("\\'", "'");
    expect(code.includes(title!), `${file} has no test '${title}'`).toBe(true);
  }
});
