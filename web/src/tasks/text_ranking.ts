import { PeruseError } from '../errors.js';
import { type Given, option } from '../options.js';
import { type CallOptions, callOptions, checkString, checkStrings, engineOptions, nameOf, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';

const kTask = 'text-ranking';
const kOptions = callOptions(kTask, {
  /** Maximum number of documents to return. Default: all. */
  top_k: option({ kind: 'number', default: 'all', flag: { short: 'k', help: 'number of documents to print, best first (all)' } }),
  /** Also return the documents' texts. Default false. */
  return_documents: option({ kind: 'boolean', default: false }),
  /** How to convert the logit to a score. Default: as the model's sentence-transformers files say; otherwise 'sigmoid' for a single label. */
  function_to_apply: option({ kind: ['sigmoid', 'softmax', 'none'], default: 'by the model' }),
  /** The label to rank by, for a model with several labels. */
  label: option({ kind: 'string', flag: { help: 'for a model with several labels: the label to rank by' } }),
  /** Text before the query. For a language model with a chat template, its instruction. Default: the model's default prompt. */
  prompt: option({ kind: 'string', default: "the model's" }),
  /** Name of one of the prompts in config_sentence_transformers.json. */
  prompt_name: option({ kind: 'string' }),
  /** Maximum number of tokens of query and document; longer documents are cut. Default: the model's limit. */
  max_length: option({
    kind: 'number',
    default: "the model's",
    flag: { help: "tokens that query and document are cut to (the model's, at most 512)" },
  }),
});

/** Options of ranking. */
export interface TextRankingOptions extends CallOptions, Given<typeof kOptions> {}

/** A document and its score. */
export interface RankedDocument {
  /** Index of the document in the caller's list. */
  corpus_id: number;
  score: number;
  /** Scores of all labels, in the model's order, if it has several. */
  scores?: number[];
  text?: string;
}

/** The call of text ranking. */
export interface TextRankingCall {
  /** Returns the documents, best first: `rank(query, documents)`. A document that is too long is cut. */
  (query: string, documents: readonly string[], options?: TextRankingOptions): Promise<RankedDocument[]>;
}

function createCall(run: Run): TextRankingCall {
  return async (query, documents, options = {}) => {
    const { return_documents = false, ...settings } = engineOptions(kTask, kOptions, options);
    if (typeof return_documents !== 'boolean') {
      throw new PeruseError('invalid_argument', `return_documents must be true or false, not ${nameOf(return_documents)}.`);
    }
    const input = { query: checkString(query, 'The query'), documents: checkStrings(documents, 'documents') };
    const [ranked] = (await run([input], settings, options)) as RankedDocument[][];
    return return_documents ? ranked!.map((one) => ({ ...one, text: documents[one.corpus_id]! })) : ranked!;
  };
}

/** The task. */
export const textRanking = {
  engine: { name: kTask, classes: ['ForSequenceClassification'], sentenceFiles: 'prompts', readsTemplate: true },
  call: createCall,
  options: kOptions,
  example: 'cross-encoder/ms-marco-MiniLM-L6-v2',
  loadOptions: ['id2label'],
  explains: 'text-classification',
  oneInput: true,
} as const satisfies TaskDefinition;
