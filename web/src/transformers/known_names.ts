// Names of models and families of transformers.js and transformers that decide nothing in the engine.

/** transformers.js's default models. */
export const kDefaults: Readonly<Record<string, string>> = {
  'text-classification': 'Xenova/distilbert-base-uncased-finetuned-sst-2-english',
  'token-classification': 'Xenova/bert-base-multilingual-cased-ner-hrl',
  'question-answering': 'Xenova/distilbert-base-cased-distilled-squad',
  'fill-mask': 'onnx-community/ettin-encoder-32m-ONNX',
  'zero-shot-classification': 'Xenova/distilbert-base-uncased-mnli',
  'feature-extraction': 'onnx-community/all-MiniLM-L6-v2-ONNX',
};

/** Tokenizers and models with token_type_ids in transformers, unless the folder says which inputs the model reads. */
export const kTyped = /^(albert|bert|convbert|debertav?2?|electra|herbert|layoutlm|mobilebert|roformer|squeezebert|xlm)$/;
