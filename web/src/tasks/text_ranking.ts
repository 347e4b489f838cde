import { PeruseError } from '../errors.js';
import { type CallOptions, checkString, checkStrings, engineOptions, nameOf, type Run, taskOptions } from './call.js';
import type { TaskDefinition } from './definition.js';

/** Options of ranking. */
export interface TextRankingOptions extends CallOptions {
  /** Maximum number of documents to return. Default: all. */
  top_k?: number;
  /** Also return the documents' texts. Default false. */
  return_documents?: boolean;
  /** How to convert the logit to a score. Default: as the model's sentence-transformers files say; otherwise 'sigmoid' for a single label. */
  function_to_apply?: 'sigmoid' | 'softmax' | 'none';
  /** The label to rank by, for a model with several labels. */
  label?: string;
  /** Maximum number of tokens of query and document; longer documents are cut. Default: the model's limit. */
  max_length?: number;
}

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

const kTask = 'text-ranking';
const kOptions = taskOptions<TextRankingOptions>(kTask, {
  top_k: 'number',
  return_documents: 'boolean',
  function_to_apply: ['sigmoid', 'softmax', 'none'],
  label: 'string',
  max_length: 'number',
});

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
  engine: { name: kTask, classes: ['ForSequenceClassification'], sentenceFiles: 'prompts' },
  call: createCall,
  options: kOptions,
  example: 'cross-encoder/ms-marco-MiniLM-L6-v2',
  loadOptions: ['id2label'],
  explains: 'text-classification',
  oneInput: true,
} as const satisfies TaskDefinition;
