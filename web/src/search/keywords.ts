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

export class Keywords {
  private readonly postings_ = new Map<string, Posting[]>();
  private readonly lengths_ = new Map<number, number>(); // number of words of each row
  private words_ = 0;

  add(row: number, text: string): void {
    const words = wordsOf(text);
    this.lengths_.set(row, words.length);
    this.words_ += words.length;
    for (const [word, count] of countsOf(words)) {
      const known = this.postings_.get(word);
      if (known === undefined) this.postings_.set(word, [{ row, count }]);
      else known.push({ row, count });
    }
  }

  remove(row: number, text: string): void {
    this.words_ -= this.lengths_.get(row) ?? 0;
    this.lengths_.delete(row);
    for (const word of new Set(wordsOf(text))) {
      const left = this.postings_.get(word)?.filter((posting) => posting.row !== row) ?? [];
      if (left.length > 0) this.postings_.set(word, left);
      else this.postings_.delete(word);
    }
  }

  /** The `count` rows with the highest scores, best first. Rows without any word of the query are not returned. */
  search(query: string, count: number, accept: (row: number) => boolean): { row: number; score: number }[] {
    const rows = this.lengths_.size;
    const mean = this.words_ / Math.max(rows, 1);
    const scores = new Map<number, number>();
    for (const [word, repeats] of countsOf(wordsOf(query))) {
      const postings = this.postings_.get(word) ?? [];
      const rarity = Math.log(1 + (rows - postings.length + 0.5) / (postings.length + 0.5));
      for (const { row, count: frequency } of postings) {
        const length = 1 - kLengthWeight + (kLengthWeight * this.lengths_.get(row)!) / mean;
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
