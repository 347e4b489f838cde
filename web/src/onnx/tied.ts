// Masked LMs whose decoder is the matrix of the token embeddings. A file may store that matrix twice: as a table, and for the decoder's product.
import type { Claims } from './claim.js';

const kWords = /(^|\.)embeddings\.(word|tok)_embeddings\.weight$/;
/** The engine can read these decoders as parameters of their own. */
const kDecoder = /(^|\.)(cls\.predictions\.decoder|lm_head\.decoder|generator_lm_head|vocab_projector|decoder)\.weight$/;
/** DeBERTa's original head, whose decoder is always the token embeddings. */
const kAlwaysTied = /(^|\.)lm_predictions\.lm_head\.weight$/;

/** Whether a tensor has the name of a decoder, which torch's newer exporter gives to a tied matrix of token embeddings. */
export function isDecoder(name: string | undefined): boolean {
  return name !== undefined && kDecoder.test(name);
}

/** Returns the name of the token embeddings of a file. `names` are those of its tensors. */
export function wordTable(names: Iterable<string>): string | undefined {
  for (const name of names) {
    const [, prefix, norm] = /^((?:.*\.)?embeddings\.)(LayerNorm|norm)\.weight$/.exec(name) ?? [];
    if (norm) return `${prefix}${norm === 'norm' ? 'tok' : 'word'}_embeddings.weight`;
  }
  return undefined;
}

/**
 * Decides which of two matrices the decoder multiplies by. Two float matrices must be equal. If a tool stored them differently (integers of
 * another scale, or 4 bits next to floats), each is used in its place, as in the file's own graph.
 */
export function claimTied(claims: Claims): void {
  const { parameters } = claims;
  const find = (pattern: RegExp) => [...parameters.keys()].find((name) => pattern.test(name));
  const [words, always] = [find(kWords), find(kAlwaysTied)];
  const decoder = always ?? find(kDecoder);
  if (words === undefined || decoder === undefined) return;
  const [table, matrix] = [parameters.get(words)!, parameters.get(decoder)!];
  const [first, second] = [table.tensor, matrix.tensor];
  if (first === second) return;
  if (table.coding.kind === 'floats' && matrix.coding.kind === 'floats' && first.type === second.type) {
    parameters.delete(decoder);
    claims.copies.push({ name: words, first, second, turned: table.transposed !== matrix.transposed });
  } else if (always !== undefined) {
    parameters.delete(words);
    claims.conflicts.push(`two tensors claim ${words}: ${first.name} and ${second.name}`);
  } else {
    claims.changes.tie_word_embeddings = false;
  }
}
