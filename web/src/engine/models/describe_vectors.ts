// Describes the vectors of an embedder by the files of sentence-transformers, of PyLate and of Stanford's ColBERT.
import { type LocatedModel, modulesIn, readStanford } from '../../sources/checkpoint.js';
import { firstObject, isObject, numberOf, parseObject, textOf } from '../../sources/json.js';
import { kPrompts, type LoadPooling, type ModelModule, pathWithin } from '../../sources/model_files.js';
import { type Reading, readThoseThere } from '../../sources/read_files.js';

/** The vectors of feature extraction with `pooling: 'sentence'`. */
export interface VectorReport {
  /** 'dense': a vector for a text. 'sparse': weights of words. 'multi_vector': a matrix for a text, one row for each token. */
  kind: 'dense' | 'sparse' | 'multi_vector';
  /** Length of a vector, or of a row; for sparse vectors the size of the vocabulary. */
  dimensions: number;
  /** How vectors of tokens become that of a text, in the words of sentence-transformers: 'mean', 'cls'. Several are joined; of matrices none. */
  pooling: string[];
  /** The measure by which vectors are compared. */
  similarity: string;
  /** Texts that are put before others, by the names that `prompt_name` takes. */
  prompts: Record<string, string>;
}

/** Pooling's modes, by the flags that older releases wrote. */
const kModes: Readonly<Record<string, string>> = {
  cls_token: 'cls',
  mean_tokens: 'mean',
  max_tokens: 'max',
  mean_sqrt_len_tokens: 'mean_sqrt_len_tokens',
  weightedmean_tokens: 'weightedmean',
  lasttoken: 'lasttoken',
};

const kMultiVector = ['MultiVectorEncoder', 'ColBERT'];
/** The rows of Stanford's ColBERT without settings. */
const kStanfordDimensions = 128;
/** Numbers of a SparseAutoEncoder's vectors without settings. */
const kLatents = 512;

/** Returns undefined for models that are no embedders: those with another head and without modules. */
export async function describeVectors(
  root: Reading,
  { job, config }: Pick<LocatedModel, 'job' | 'config'>,
  loadedAs?: LoadPooling,
): Promise<VectorReport | undefined> {
  const own = parseObject(config.name, config.content);
  const classes = [own.architectures].flat().map(textOf);
  const modules = await modulesIn(root);
  const stanford = modules.length === 0 ? await readStanford(job, config) : undefined;
  if (modules.length === 0 && !stanford && !loadedAs && classes.some((name) => /For[A-Z]/.test(name))) return undefined;
  const settings = await readObject(root, kPrompts);
  const prompts = Object.entries(isObject(settings.prompts) ? settings.prompts : {}).map(([name, text]) => [name, textOf(text)]);
  const common = { prompts: Object.fromEntries(prompts) as Record<string, string> };
  const hidden = numberOf(own.hidden_size ?? own.n_embd ?? own.dim);
  const has = (...types: string[]) => modules.some(({ type }) => types.includes(type));
  // A folder with a Pooling names the measure of its dense vectors.
  const said = loadedAs && has('Pooling') ? '' : textOf(settings.similarity_fn_name).toLowerCase();
  if (stanford) {
    const { dim } = firstObject(stanford);
    return { kind: 'multi_vector', dimensions: numberOf(dim, kStanfordDimensions), pooling: [], similarity: 'maxsim', ...common };
  }
  if (loadedAs === 'splade' || has('SpladePooling', 'SparseStaticEmbedding')) {
    return { kind: 'sparse', dimensions: numberOf(own.vocab_size), pooling: ['splade'], similarity: said || 'dot', ...common };
  }
  const coder = modules.find(({ type }) => type === 'SparseAutoEncoder');
  if (coder) {
    const { hidden_dim: latents } = await readObject(root, pathWithin(coder.folder, 'config.json'));
    return { kind: 'sparse', dimensions: numberOf(latents, kLatents), pooling: ['splade'], similarity: said || 'dot', ...common };
  }
  const last = modules.filter(({ type }) => type === 'Dense').at(-1);
  const projected = last && numberOf((await readObject(root, pathWithin(last.folder, 'config.json'))).out_features);
  if (loadedAs || kMultiVector.includes(textOf(settings.model_type))) {
    return { kind: 'multi_vector', dimensions: projected ?? hidden, pooling: [], similarity: said || 'maxsim', ...common };
  }
  const pooling = await poolingOf(root, modules);
  const whole = projected ?? pooling.length * hidden;
  return {
    kind: 'dense',
    dimensions: Math.min(whole, numberOf(settings.truncate_dim, whole)),
    pooling,
    similarity: said || 'cosine',
    ...common,
  };
}

async function poolingOf(root: Reading, modules: readonly ModelModule[]): Promise<string[]> {
  const module = modules.find(({ type }) => type === 'Pooling');
  const config = module && (await readObject(root, pathWithin(module.folder, 'config.json')));
  const named = [config?.pooling_mode ?? []].flat().map(textOf);
  const flags = Object.entries(kModes).flatMap(([flag, mode]) => (config?.[`pooling_mode_${flag}`] === true ? [mode] : []));
  const found = named.length > 0 ? named : flags;
  return found.length > 0 ? found : ['mean'];
}

async function readObject(reading: Reading, name: string): Promise<Record<string, unknown>> {
  return firstObject(await readThoseThere(reading, [name]));
}
