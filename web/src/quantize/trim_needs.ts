// What a folder of sentence-transformers, PyLate or Stanford's ColBERT needs of its vocabulary in addition to the pieces of texts.
import { PeruseError } from '../errors.js';
import { modulesIn, readStanford } from '../sources/checkpoint.js';
import { firstObject, isObject, parseObject, textOf } from '../sources/json.js';
import { kPrompts, kSentenceConfigs } from '../sources/model_files.js';
import { type NamedFile, type Reading, readFirstThere, readThoseThere } from '../sources/read_files.js';

export interface TrimNeeds {
  /** Texts that are put before others. */
  prompts: string[];
  /** Pieces that are looked up by name. */
  pieces: string[];
}

/** Modules of models that compute with ids of the vocabulary themselves. */
const kFixed: Readonly<Record<string, string>> = {
  SpladePooling: 'each number of its vectors belongs to a piece, also to pieces that no text has',
  SparseStaticEmbedding: 'it has a weight for each piece',
  LogitScore: 'it reads the score of a pair from two pieces, after a template',
};

/** Throws 'unsupported' for a model whose vocabulary must stay as it is. */
export async function trimNeeds(root: Reading, encoder: Reading, config: NamedFile): Promise<TrimNeeds> {
  const modules = await modulesIn(root);
  for (const { type } of modules) {
    const why = kFixed[type];
    if (why) throw new PeruseError('unsupported', `modules.json names a ${type}: ${why}. Its vocabulary is not trimmed.`);
  }
  const { architectures } = parseObject(config.name, config.content);
  if (modules.length === 0 && textOf([architectures].flat()[0]).endsWith('ForCausalLM')) {
    throw new PeruseError('unsupported', 'config.json: a language model ranks by pieces of its answer. Its vocabulary is not trimmed.');
  }
  const settings = firstObject(await readThoseThere(root, [kPrompts]));
  const stanford = modules.length === 0 ? await readStanford(encoder, config) : undefined;
  const { query_token_id: query, doc_token_id: document } = stanford ? firstObject(stanford) : {};
  const own = stanford ? [query ?? '[unused0]', document ?? '[unused1]'].map((piece) => `${textOf(piece)} `) : [];
  const markers = [...own, textOf(settings.query_prefix), textOf(settings.document_prefix)];
  const prompts = Object.values(isObject(settings.prompts) ? settings.prompts : {}).map(textOf);
  const transformer = modules.length > 0 ? firstObject(await readFirstThere(encoder, kSentenceConfigs)) : {};
  const completing = [settings, transformer].map(({ query_expansion: expansion }) => (isObject(expansion) ? textOf(expansion.token) : ''));
  return {
    prompts: [...new Set([...prompts, ...markers])].filter((text) => text !== ''),
    pieces: [...markers.map((marker) => marker.trim()), ...completing],
  };
}
