// Models of the hub that this page offers by name: well-known ones of the families that Peruse runs. Sizes are those of their weights.

export interface HubModel {
  readonly id: string;
  readonly megabytes: number;
  readonly about: string;
}

export const sorterModels: readonly HubModel[] = [
  { id: 'MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33', megabytes: 142, about: 'any labels, small and quick' },
  { id: 'MoritzLaurer/deberta-v3-base-zeroshot-v2.0', megabytes: 369, about: 'any labels, more exact' },
  { id: 'distilbert/distilbert-base-uncased-finetuned-sst-2-english', megabytes: 268, about: 'praise or complaint' },
  { id: 'unitary/toxic-bert', megabytes: 438, about: 'six kinds of insult' },
  { id: 'protectai/deberta-v3-base-prompt-injection-v2', megabytes: 738, about: 'prompt injection' },
];

export const readerModels: readonly HubModel[] = [
  { id: 'deepset/minilm-uncased-squad2', megabytes: 133, about: 'quick' },
  { id: 'distilbert/distilbert-base-cased-distilled-squad', megabytes: 261, about: 'well known' },
  { id: 'deepset/deberta-v3-base-squad2', megabytes: 738, about: 'the most exact' },
];

export const taggerModels: readonly HubModel[] = [
  { id: 'dslim/distilbert-NER', megabytes: 261, about: 'names, quick' },
  { id: 'dslim/bert-base-NER', megabytes: 433, about: 'names' },
  { id: 'Isotonic/deberta-v3-base_finetuned_ai4privacy_v2', megabytes: 738, about: 'private details' },
];
