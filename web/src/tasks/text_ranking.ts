// text-ranking: which documents answer a query best, by a cross-encoder that reads query and document together.
import { PeruseError } from '../errors.js';
import { type CallOptions, checkString, checkStrings, engineOptions, nameOf, type OptionNames, type Run } from './call.js';

/** Options of ranking. */
export interface TextRankingOptions extends CallOptions {
  /** How many documents to return. Default: all. */
  top_k?: number;
  /** Also return the documents' texts. Default false. */
  return_documents?: boolean;
  /** How the logit becomes a score. By default what the model's configuration says (sentence-transformers), else 'sigmoid' for one label. */
  function_to_apply?: 'sigmoid' | 'softmax' | 'none';
  /** The label to rank by, for a model with several labels. */
  label?: string;
  /** Tokens that query and document are cut to. Default: the model's limit, at most its `max_position_embeddings`. */
  max_length?: number;
}

/** A document and its score. */
export interface RankedDocument {
  /** The document's index in the caller's list. */
  corpus_id: number;
  score: number;
  /** Scores of all labels, in the model's order, if it has several. */
  scores?: number[];
  text?: string;
}

/** `rank(query, documents)`: best first. A document that is too long is cut. */
export type TextRankingCall = (query: string, documents: readonly string[], options?: TextRankingOptions) => Promise<RankedDocument[]>;

const kOptions: OptionNames<TextRankingOptions> = {
  top_k: true,
  return_documents: true,
  function_to_apply: true,
  label: true,
  max_length: true,
};

/** Makes the call. */
export function textRanking(run: Run): TextRankingCall {
  return async (query, documents, options = {}) => {
    const { return_documents = false, ...settings } = engineOptions('text-ranking', kOptions, options);
    if (typeof return_documents !== 'boolean') {
      throw new PeruseError('invalid_argument', `return_documents must be true or false, not ${nameOf(return_documents)}.`);
    }
    const input = { query: checkString(query, 'The query'), documents: checkStrings(documents, 'documents') };
    const [ranked] = (await run([input], settings, options.signal)) as RankedDocument[][];
    return return_documents ? ranked!.map((one) => ({ ...one, text: documents[one.corpus_id]! })) : ranked!;
  };
}
