export interface BundledModel {
  readonly name: string;
  readonly folder: string;
  readonly task: string;
}

export const kTagger: BundledModel = { name: 'Names, ConvBERT', folder: 'peruse-tagger-convbert-tiny', task: 'redact' };
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

/** The files that Peruse reads of such a model. */
const kFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
/** The largest comes last: the engine, which is requested later, goes before it. */
const kLow = /safetensors$/;

export function addressOf({ folder }: BundledModel): string {
  return new URL(`models/${folder}/`, document.baseURI).href;
}

/** Responses by address; those of the page's script may still be under way. */
export type Requested = ReadonlyMap<string, Promise<Response>>;

export function request(folder: string, signal?: AbortSignal): Requested {
  const get = (name: string) => fetch(folder + name, { priority: kLow.test(name) ? 'low' : 'auto', ...(signal ? { signal } : {}) });
  const requested = new Map(kFiles.map((name) => [folder + name, get(name)]));
  for (const response of requested.values()) response.catch(() => {}); // whoever reads the file sees the failure
  return requested;
}

declare global {
  /** What opening.ts has requested for the first tab. */
  var peruseOpening: { folder: string; requested: Requested } | undefined;
}
