// A tokenizer with five tokens, for checks that do not need the model's own: the engine does not open a model without one.

const kTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

export const kStandInTokenizer: Uint8Array = new TextEncoder().encode(
  JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    normalizer: null,
    decoder: null,
    added_tokens: kTokens.map((content, id) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(kTokens.map((token, id) => [token, id])),
    },
  }),
);
