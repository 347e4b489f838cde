export interface BundledModel {
  readonly name: string;
  readonly folder: string;
  readonly task: string;
  /** The `recall` of its card, for a tagger of redaction. */
  readonly recall?: number;
}

export const kTagger: BundledModel = { name: 'Names, ConvBERT', folder: 'peruse-tagger-convbert-tiny', task: 'redact', recall: 0.5 };
export const kMultilingualTagger: BundledModel = {
  name: 'Names in 15 languages, ConvBERT',
  folder: 'peruse-multilingual-tagger-convbert-tiny',
  task: 'redact',
  recall: 0.55,
};
export const kSorter: BundledModel = {
  name: 'Any labels, DeBERTa',
  folder: 'peruse-zero-shot-deberta-tiny',
  task: 'zero-shot-classification',
};
export const kOpinions: BundledModel = {
  name: 'Praise or complaint, ConvBERT',
  folder: 'peruse-sentiment-convbert-tiny',
  task: 'text-classification',
};
export const kReader: BundledModel = { name: 'Reader, DeBERTa', folder: 'peruse-reader-deberta-tiny', task: 'question-answering' };

export const kFirstModels: Readonly<Record<string, BundledModel>> = { redact: kTagger, sort: kSorter, ask: kReader };

export function addressOf({ folder }: BundledModel): string {
  return new URL(`models/${folder}/`, document.baseURI).href;
}

/** The `recall` for a model: that of its card, or 0.5 for models that are not of this project. */
export function recallFor(source: unknown): number {
  return [kTagger, kMultilingualTagger].find((model) => addressOf(model) === source)?.recall ?? 0.5;
}

export function isBundled(source: unknown): source is string {
  return [kTagger, kMultilingualTagger, kSorter, kOpinions, kReader].some((model) => addressOf(model) === source);
}
