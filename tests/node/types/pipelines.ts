// Compiled only: checks the types of pipelines.
import {
  type Answer,
  type ChoiceScore,
  type EntityGroup,
  type FeaturesList,
  type Inspection,
  type LabelScore,
  type PackedFeatures,
  type Pipeline,
  pipeline,
  type RankedDocument,
  type Task,
  type Tensor,
  type TokenEntity,
  type TokenReplacement,
  type ZeroShotClassificationOutput,
} from '../../../web/dist/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<A, B>(_: Equal<A, B>): void {}

export async function textClassification(k: number, unsure: string | string[]) {
  const classify = await pipeline('text-classification', 'user/model', { dtype: 'fp32', device: 'auto', revision: 'v1' });
  is<typeof classify.task, 'text-classification'>(true);
  const one = await classify('a');
  is<typeof one, LabelScore[]>(true);
  const pair = await classify({ text: 'a', text_pair: 'b' }, { top_k: 3 });
  is<typeof pair, LabelScore[]>(true);
  const many = await classify(['a', 'b']);
  is<typeof many, LabelScore[]>(true);
  const manyFirst = await classify(['a', 'b'], { top_k: 1, truncation: true });
  is<typeof manyFirst, LabelScore[]>(true);
  const manyAll = await classify(['a', 'b'], { top_k: null });
  is<typeof manyAll, LabelScore[][]>(true);
  const manyThree = await classify(['a', { text: 'a', text_pair: 'b' }], { top_k: 3, function_to_apply: 'sigmoid' });
  is<typeof manyThree, LabelScore[][]>(true);
  const manyTwo = await classify(['a', 'b'], { topk: 2 });
  is<typeof manyTwo, LabelScore[][]>(true);
  const manyUnknown = await classify(['a', 'b'], { top_k: k });
  is<typeof manyUnknown, LabelScore[] | LabelScore[][]>(true);
  const either = await classify(unsure);
  is<typeof either, LabelScore[]>(true);
  // @ts-expect-error: not a text
  await classify(7);
  // @ts-expect-error: no such option
  await classify('a', { topK: 2 });
  // @ts-expect-error: no such function
  await classify('a', { function_to_apply: 'max' });
  // @ts-expect-error: question answering's
  await classify('a', { max_answer_len: 2 });
}

export async function alias() {
  const classify = await pipeline('sentiment-analysis', './model/');
  is<typeof classify.task, 'text-classification'>(true);
}

export async function questionAnswering(k: number) {
  const answer = await pipeline('question-answering', { 'config.json': new Uint8Array() });
  const one = await answer('q', 'c');
  is<typeof one, Answer>(true);
  const first = await answer('q', 'c', { top_k: 1, max_answer_len: 20, stride: 64 });
  is<typeof first, Answer>(true);
  const three = await answer('q', 'c', { top_k: 3, handle_impossible_answer: true });
  is<typeof three, Answer[]>(true);
  const unknown = await answer('q', 'c', { top_k: k });
  is<typeof unknown, Answer | Answer[]>(true);
  const many = await answer(['q'], ['c']);
  is<typeof many, Answer[]>(true);
  const manyThree = await answer(['q'], ['c'], { top_k: 3 });
  is<typeof manyThree, Answer[][]>(true);
  // @ts-expect-error: one list and one string
  await answer(['q'], 'c');
  // @ts-expect-error: a context is missing
  await answer('q');
  // @ts-expect-error: null is text-classification's
  await answer('q', 'c', { top_k: null });
}

export async function otherTasks() {
  const tag = await pipeline('ner', 'user/model');
  is<typeof tag.task, 'token-classification'>(true);
  const entities = await tag('a', { aggregation_strategy: 'first', ignore_labels: ['O'], stride: 16 });
  is<typeof entities, EntityGroup[]>(true);
  const entityLists = await tag(['a']);
  is<typeof entityLists, TokenEntity[][]>(true);

  const zeroShot = await pipeline('zero-shot-classification', 'user/model');
  const one = await zeroShot('a', ['x', 'y'], { multi_label: true });
  is<typeof one, ZeroShotClassificationOutput>(true);
  const several = await zeroShot(['a', 'b'], 'x, y');
  is<typeof several, ZeroShotClassificationOutput[]>(true);
  // @ts-expect-error: no labels
  await zeroShot('a');

  const extract = await pipeline('feature-extraction', 'user/model');
  const features = await extract('a', { pooling: 'mean', normalize: true });
  is<typeof features, Tensor>(true);
  const batch = await extract(['a', 'b'], { pooling: 'mean' });
  is<typeof batch, Tensor>(true);
  const vectors = batch.tolist();
  is<typeof vectors, number[][]>(true);
  const prompted = await extract(['a', 'b'], { prompt_name: 'query' });
  is<typeof prompted, Tensor>(true);
  const tokens = await extract(['a', 'b']);
  is<typeof tokens, FeaturesList>(true);
  const bits = await extract('a', { pooling: 'mean', quantize: true });
  is<typeof bits, PackedFeatures>(true);
  // @ts-expect-error: no such pooling
  await extract('a', { pooling: 'sum' });

  const rank = await pipeline('text-ranking', 'user/model');
  const ranked = await rank('q', ['a', 'b'], { top_k: 1, return_documents: true });
  is<typeof ranked, RankedDocument[]>(true);

  const choose = await pipeline('multiple-choice', 'user/model');
  const chosen = await choose('p', ['a', 'b']);
  is<typeof chosen, ChoiceScore[]>(true);

  const detect = await pipeline('replaced-token-detection', 'user/model');
  const found = await detect('a');
  is<typeof found, TokenReplacement[]>(true);

  const inside = await detect.inspect({ text: 'a', text_pair: 'b' }, { output_attentions: true });
  is<typeof inside, Inspection>(true);
  const all = await detect.inspect(['a', { text: 'a', text_pair: 'b' }, { ids: [1], type_ids: [0] }]);
  is<typeof all, Inspection[]>(true);
  // @ts-expect-error: no such option
  await detect.inspect('a', { output_attention: true });
}

export async function unknownThings() {
  // @ts-expect-error: no such task
  await pipeline('translation', 'user/model');
  // @ts-expect-error: no such precision
  await pipeline('text-classification', 'user/model', { dtype: 'q3' });
  // @ts-expect-error: no such source
  await pipeline('text-classification', 7);
  // @ts-expect-error: redaction without a model is createRedactor()
  await pipeline('redact', null, { patterns: true });
}

export async function unionsOfTasks(either: 'text-classification' | 'token-classification', any: Task) {
  const run = await pipeline(either, 'user/model', { dtype: 'q8', id2label: ['a'] });
  const found = await run('a', { signal: new AbortController().signal });
  is<typeof found, LabelScore[] | Awaited<ReturnType<typeof run>>>(true);
  await run(['a', 'b']);
  // @ts-expect-error: a pair is text classification's
  await run({ text: 'a', text_pair: 'b' });
  // @ts-expect-error: redact's
  await pipeline(either, 'user/model', { patterns: true });
  const unknown: Pipeline = await pipeline(any, 'user/model');
  const one: Pipeline = await pipeline('redact', 'user/model');
  await Promise.all([unknown.dispose(), one.dispose()]);
  // @ts-expect-error: the tasks have no arguments in common
  await unknown('a');
}
