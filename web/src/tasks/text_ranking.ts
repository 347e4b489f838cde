// text-ranking: which documents answer a query best, by a cross-encoder that reads query and document together.
import { checkString, checkStrings, engineOptions, type CallOptions, type OptionNames, type Run } from './call.js';

/** Options of ranking. */
export interface TextRankingOptions extends CallOptions {
  /** How many documents to return. Default: all. */
  top_k?: number;
  /** Also return the documents' texts. Default false. */
  return_documents?: boolean;
  /** How the logit becomes a score. By default what the model's configuration says (sentence-transformers), else 'sigmoid'. */
  function_to_apply?: 'sigmoid' | 'none';
}

/** A document and its score. */
export interface RankedDocument {
  /** The document's index in the caller's list. */
  corpus_id: number;
  score: number;
  text?: string;
}

/** `rank(query, documents)`: best first. A document that is too long is cut. */
export type TextRankingCall = (
  query: string, documents: readonly string[], options?: TextRankingOptions,
) => Promise<RankedDocument[]>;

const kOptions: OptionNames<TextRankingOptions> = { top_k: true, return_documents: true, function_to_apply: true };

/** Makes the call. */
export function textRanking(run: Run): TextRankingCall {
  return async (query, documents, options = {}) => {
    const settings = engineOptions('text-ranking', kOptions, options);
    const input = { query: checkString(query, 'The query'), documents: checkStrings(documents, 'documents') };
    const [ranked] = (await run([input], settings, options.signal)) as RankedDocument[][];
    return ranked!.map((one) => ('text' in one ? { ...one, text: documents[one.corpus_id]! } : one));
  };
}
