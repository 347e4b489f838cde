// The parts of redaction that need no model.
import { decodedText } from './decoding.js';
import { searchDetails } from './patterns.js';
import { detailsOf } from './private_details.js';
import { type FoldedText, foldText } from './text_folding.js';

/** Returns the texts that finders read: the normalised text and, if the text contains encodings, the decoded one. */
function readingsOf(text: string): FoldedText[] {
  const folded = foldText(text);
  const decoded = decodedText(text, folded);
  return decoded === undefined ? [folded] : [folded, decoded];
}

export const kRedactKit = { readingsOf, searchDetails, detailsOf };
export type RedactKit = typeof kRedactKit;
