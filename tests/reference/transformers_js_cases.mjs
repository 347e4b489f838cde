// Calls of transformers.js's pipelines and tokenizers, in our words: what its own tests of the six pipelines of encoders check (44), and 20 calls of
// tokenizers. make_transformers_js_goldens.mjs runs them with transformers.js, tests/node/transformers_js_equal.test.ts with Peruse.

const kTexts = ['this is a simple test.', 'hello world'];
const kPair = ['1 2 3', '4 5'];
const kTravel = ['one day i will see the world', 'i love making pizza'];
const kLabels = ['travel', 'cooking', 'dancing'];

const named = (...labels) => ({
  config: { model_type: 'bert', id2label: { ...labels }, label2id: Object.fromEntries(labels.map((l, i) => [l, i])) },
});
const nli = named('contradiction', 'entailment');

/** One case of a pipeline: name, task, model, the options of the load, the call. Without `args` it asks for the pipeline's class. */
const of = (task, model) => (name, args, load) => ({ name: `${task}: ${name}`, task, model, ...(args && { args }), ...(load && { load }) });

const classify = of('text-classification', 'bert-sequence');
const tag = of('token-classification', 'bert-token');
const embed = of('feature-extraction', 'bert');
const fill = of('fill-mask', 'bert-masked');
const fillOther = of('fill-mask', 'modernbert-masked');
const answer = of('question-answering', 'bert-question');
const choose = of('zero-shot-classification', 'bert-sequence');

const simple = { aggregation_strategy: 'simple' };
const kPoolings = [
  ['without pooling', undefined],
  ['cls', { pooling: 'cls' }],
  ['mean, normalized', { pooling: 'mean', normalize: true }],
  ['mean, binary', { pooling: 'mean', quantize: true, precision: 'binary' }],
  ['cls, ubinary', { pooling: 'cls', quantize: true, precision: 'ubinary' }],
];

export const kPipelineCases = [
  classify('its class'),
  classify('one text', ['a']),
  classify('one text, two labels', ['a', { top_k: 2 }]),
  classify('two texts', [['a', 'b c']]),
  classify('two texts, two labels', [['a', 'b c'], { top_k: 2 }]),
  { ...classify('problem_type set afterwards', [['a', 'b c'], { top_k: 2 }]), set: { problem_type: 'multi_label_classification' } },
  tag('its class'),
  tag('one text', ['1 2 3']),
  tag('one text, ignore_labels', ['1 2 3', { ignore_labels: ['LABEL_0'] }]),
  tag('two texts', [kPair]),
  tag('two texts, ignore_labels', [kPair, { ignore_labels: ['LABEL_0'] }]),
  tag('B and I', [kPair, simple], named('B-PER', 'I-PER')),
  tag('O and B', [kPair, simple], named('O', 'B-PER')),
  tag('O and B, all labels', [kPair, { ...simple, ignore_labels: [] }], named('O', 'B-PER')),
  tag('E and B', [kPair, simple], named('E-PER', 'B-PER')),
  tag('I and E', [kPair, simple], named('I-PER', 'E-PER')),
  tag('S', [kPair, simple], { config: { model_type: 'bert', id2label: { 0: 'S-PER', 1: 'S-PER' }, label2id: { 'S-PER': 0 } } }),
  tag('an unsupported strategy', ['1 2 3', { aggregation_strategy: 'first' }]),
  embed('its class'),
  ...kPoolings.map(([name, options]) => embed(`one text, ${name}`, options ? [kTexts[0], options] : [kTexts[0]])),
  ...kPoolings.map(([name, options]) => embed(`two texts, ${name}`, options ? [kTexts, options] : [kTexts])),
  fill('its class'),
  fill('one text', ['a [MASK] c']),
  fill('one text, two tokens', ['a [MASK] c', { top_k: 2 }]),
  fill('two texts', [['a [MASK] c', 'a b [MASK] c']]),
  fill('two texts, two tokens', [['a [MASK] c', 'a b [MASK] c'], { top_k: 2 }]),
  fillOther('the class, byte-level tokens'),
  fillOther('one text, byte-level tokens', ['The capital of France is [MASK].']),
  fillOther('two texts, byte-level tokens', [['a [MASK] c', 'a b [MASK] c']]),
  answer('its class'),
  answer('one answer', ['a', 'b c']),
  answer('three answers', ['a', 'b c', { top_k: 3 }]),
  choose('its class', undefined, nli),
  choose('one text', [kTravel[0], kLabels], nli),
  choose('two texts', [kTravel, kLabels], nli),
  choose('two texts, several labels', [kTravel, kLabels, { multi_label: true }], nli),
];

/** Calls of a tokenizer, by its model. */
const call = (name, use, model = 'bert') => ({ name, model, use });
const other = (name, use) => call(name, use, 'modernbert-masked');

export const kTokenizerCases = [
  call('one text', (t) => t('hello world')),
  call('one text, lists', (t) => t('hello world', { return_tensor: false })),
  call('two texts, padded', (t) => t(['hello', 'hello world'], { padding: true })),
  call('two texts, lists, padded', (t) => t(['hello', 'hello world'], { padding: true, return_tensor: false })),
  call('two texts, cut', (t) => t(['hello', 'hello world'], { padding: true, truncation: true, max_length: 6 })),
  call('padded to max_length', (t) => t('hello', { padding: 'max_length', max_length: 12, truncation: true })),
  call('a pair', (t) => t('hello', { text_pair: 'world' })),
  call('pairs, padded and cut', (t) => t(['hello', 'a'], { text_pair: ['world', 'b c d'], padding: true, truncation: true })),
  call('no special tokens', (t) => t('hello', { add_special_tokens: false })),
  call('an empty text', (t) => t('')),
  call('encode', (t) => t.encode('hello world')),
  call('encode a pair', (t) => t.encode('hello', { text_pair: 'world' })),
  call('tokenize', (t) => t.tokenize('hello world')),
  call('decode', (t) => t.decode(t.encode('hello world'))),
  call('decode, without special tokens', (t) => t.decode(t.encode('hello world.'), { skip_special_tokens: true })),
  call('batch_decode', (t) => t.batch_decode(t(['hello', 'hello world'], { padding: true }).input_ids, { skip_special_tokens: true })),
  call('members', (t) => [
    [t.model_max_length, t.padding_side, t.config.tokenizer_class],
    [t.pad_token, t.sep_token, t.unk_token, t.mask_token],
    [t.pad_token_id, t.sep_token_id, t.unk_token_id, t.mask_token_id],
    [t.all_special_tokens, t.all_special_ids],
    [t.convert_tokens_to_ids('a'), t.convert_tokens_to_ids(['a', 'b'])],
  ]),
  other('byte-level: one text', (t) => t('The capital of France is [MASK].')),
  other('byte-level: two texts, padded', (t) => t(['a b', 'I love making pizza'], { padding: true })),
  other('byte-level: decode', (t) => t.decode(t.encode('I love Zoë 🎉'), { skip_special_tokens: true })),
];

/** A result as JSON: tensors as their type, dims and numbers. */
export function plain(value) {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value === 'object' && value !== null && 'dims' in value && 'data' in value) {
    return { type: value.type, dims: [...value.dims], data: Array.from(value.data, Number) };
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

const kClasses = {
  'text-classification': 'TextClassificationPipeline',
  'token-classification': 'TokenClassificationPipeline',
  'feature-extraction': 'FeatureExtractionPipeline',
  'fill-mask': 'FillMaskPipeline',
  'question-answering': 'QuestionAnsweringPipeline',
  'zero-shot-classification': 'ZeroShotClassificationPipeline',
};

/** Runs a case of a pipeline with a library; an error is its result. */
export async function runPipelineCase(library, { task, model, load, args, set }, options) {
  const pipe = await library.pipeline(task, model, { ...options, ...load });
  try {
    if (args === undefined) return pipe instanceof library[kClasses[task]];
    if (set !== undefined) Object.assign(pipe.model.config, set);
    return plain(await pipe(...args));
  } catch (error) {
    return { error: error instanceof Error };
  } finally {
    await pipe.dispose();
  }
}

/** Runs a case of a tokenizer with a library. */
export async function runTokenizerCase(library, { model, use }, options) {
  return plain(use(await library.AutoTokenizer.from_pretrained(model, options)));
}
