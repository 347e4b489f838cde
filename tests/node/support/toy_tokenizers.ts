// Small tokenizers of each kind that can be trimmed, with 48 pieces, over the letters a to f. Their pieces are drawn from a seed.
export type ToyKind = 'Unigram' | 'WordPiece' | 'BPE' | 'ByteLevel';

const kLetters = [...'abcdef'];
const kPieces = 48;

export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function toyTexts(count: number, seed: number): string[] {
  const random = randomNumbers(seed);
  const word = () => Array.from({ length: 1 + Math.floor(random() * 7) }, () => kLetters[Math.floor(random() * random() * 6)]).join('');
  return Array.from({ length: count }, () => Array.from({ length: 1 + Math.floor(random() * 5) }, word).join(' '));
}

export function toyTokenizer(kind: ToyKind, seed: number): string {
  const random = randomNumbers(seed);
  const draw = () => Array.from({ length: 2 + Math.floor(random() * 3) }, () => kLetters[Math.floor(random() * random() * 6)]).join('');
  const specials = ['<pad>', '<unk>', '<s>', '</s>'];
  const common = {
    version: '1.0',
    truncation: null,
    padding: null,
    normalizer: null,
    added_tokens: specials.map((content, id) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '<s>', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '</s>', type_id: 0 } },
      ],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '</s>', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: { '<s>': { id: '<s>', ids: [2], tokens: ['<s>'] }, '</s>': { id: '</s>', ids: [3], tokens: ['</s>'] } },
    },
  };
  const unique = (first: string[], next: () => string) => {
    const pieces = new Set([...specials, ...first]);
    while (pieces.size < kPieces) pieces.add(next());
    return [...pieces];
  };
  const ids = (pieces: string[]) => Object.fromEntries(pieces.map((piece, id) => [piece, id]));
  switch (kind) {
    case 'Unigram': {
      const pieces = unique(['▁', ...kLetters], () => (random() < 0.4 ? '▁' : '') + draw());
      const vocab = pieces.map((piece, id) => [piece, id < 4 ? 0 : -1 - random() * 9]);
      const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true };
      return JSON.stringify({ ...common, pre_tokenizer: metaspace, decoder: metaspace, model: { type: 'Unigram', unk_id: 1, vocab } });
    }
    case 'WordPiece': {
      const pieces = unique([...kLetters, ...kLetters.map((letter) => `##${letter}`)], () => (random() < 0.5 ? '##' : '') + draw());
      const model = {
        type: 'WordPiece',
        unk_token: '<unk>',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: ids(pieces),
      };
      return JSON.stringify({ ...common, pre_tokenizer: { type: 'WhitespaceSplit' }, decoder: null, model });
    }
    case 'BPE':
    case 'ByteLevel': {
      const isByteLevel = kind === 'ByteLevel';
      const pieces = [...specials, ...kLetters, ...(isByteLevel ? ['Ġ'] : [])];
      const merges: string[] = [];
      while (pieces.length < kPieces) {
        const [left, right] = [0, 1].map(() => pieces[4 + Math.floor(random() * (pieces.length - 4))]!) as [string, string];
        if (right.includes('Ġ') || pieces.includes(left + right)) continue;
        pieces.push(left + right);
        merges.push(`${left} ${right}`);
      }
      const model = { type: 'BPE', unk_token: '<unk>', dropout: null, fuse_unk: false, byte_fallback: false, vocab: ids(pieces), merges };
      const pre = isByteLevel
        ? { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
        : { type: 'WhitespaceSplit' };
      return JSON.stringify({ ...common, pre_tokenizer: pre, decoder: isByteLevel ? pre : null, model });
    }
  }
}
