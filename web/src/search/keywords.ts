// BM25 (Robertson and Zaragoza, 2009), with the inverse document frequency of Lucene, which is never negative.

const kSaturation = 1.5; // BM25's constant k1
const kLengthWeight = 0.75; // BM25's constant b

/** Scripts without spaces between words. */
const kUnspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The words of a text, normalised (NFKC) and in lower case. */
export function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKC').toLowerCase();
  if (!kUnspaced.test(folded)) return folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(folded);
  return Array.from(segments).flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []));
}

interface Posting {
  row: number;
  count: number;
}

/** The rows with a word, of which some may have been removed. */
interface Word {
  postings: Posting[];
  rows: number; // without removed rows
}

export class Keywords {
  private readonly byWord_ = new Map<string, Word>();
  private readonly lengths_ = new Map<number, number>(); // number of words of each row
  private words_ = 0;

  add(row: number, text: string): void {
    const words = wordsOf(text);
    this.lengths_.set(row, words.length);
    this.words_ += words.length;
    for (const [word, count] of countsOf(words)) {
      const known = this.byWord_.get(word);
      if (known === undefined) this.byWord_.set(word, { postings: [{ row, count }], rows: 1 });
      else {
        known.postings.push({ row, count });
        known.rows += 1;
      }
    }
  }

  /** Removes a row, whose number must not be used again. Its postings stay until only() copies the others. */
  remove(row: number, text: string): void {
    this.words_ -= this.lengths_.get(row) ?? 0;
    if (!this.lengths_.delete(row)) return;
    for (const word of new Set(wordsOf(text))) this.byWord_.get(word)!.rows -= 1;
  }

  /** The rows `kept`, numbered by their positions in that list. */
  only(kept: readonly number[]): Keywords {
    const numbers = new Map(kept.map((row, number) => [row, number]));
    const copy = new Keywords();
    for (const [row, number] of numbers) copy.lengths_.set(number, this.lengths_.get(row)!);
    copy.words_ = this.words_;
    for (const [word, { postings }] of this.byWord_) {
      const left = postings.flatMap(({ row, count }) => (this.lengths_.has(row) ? [{ row: numbers.get(row)!, count }] : []));
      if (left.length > 0) copy.byWord_.set(word, { postings: left, rows: left.length });
    }
    return copy;
  }

  /** The `count` rows with the highest scores, best first. Rows without any word of the query are not returned. */
  search(query: string, count: number, accept: (row: number) => boolean): { row: number; score: number }[] {
    const rows = this.lengths_.size;
    const mean = this.words_ / Math.max(rows, 1);
    const scores = new Map<number, number>();
    for (const [word, repeats] of countsOf(wordsOf(query))) {
      const known = this.byWord_.get(word);
      if (known === undefined) continue;
      const rarity = Math.log(1 + (rows - known.rows + 0.5) / (known.rows + 0.5));
      for (const { row, count: frequency } of known.postings) {
        const words = this.lengths_.get(row);
        if (words === undefined) continue;
        const length = 1 - kLengthWeight + (kLengthWeight * words) / mean;
        const score = (repeats * rarity * frequency) / (frequency + kSaturation * length);
        scores.set(row, (scores.get(row) ?? 0) + score);
      }
    }
    const found = Array.from(scores, ([row, score]) => ({ row, score })).filter(({ row }) => accept(row));
    return found.sort((a, b) => b.score - a.score || a.row - b.row).slice(0, count);
  }
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
