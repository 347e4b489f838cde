// What differs between families in ONNX files. Only this file and the engine know the families' names.

interface OnnxFamily {
  /** First part of the names of the encoder's tensors. */
  prefix?: string;
  /** Names of the layers that onnxruntime's optimiser joins to one. Default: query, key, value. */
  projections?: readonly [string, string, string];
  /** All layers are calls of the same modules. */
  repeatsLayers?: true;
  /** Tools fold the relative embeddings into tables of position keys and queries. */
  foldsPositions?: true;
  /** Linear layers never have biases. In other families a missing bias is one of zeros that a tool removed. */
  withoutBiases?: true;
}

/** By `model_type`: the families whose ONNX files are read. */
const kFamilies: Readonly<Record<string, OnnxFamily>> = {
  albert: { prefix: 'albert', repeatsLayers: true },
  bert: { prefix: 'bert' },
  camembert: { prefix: 'roberta' },
  convbert: { prefix: 'convbert' },
  deberta: { prefix: 'deberta' },
  'deberta-v2': { prefix: 'deberta', foldsPositions: true },
  distilbert: { prefix: 'distilbert', projections: ['q_lin', 'k_lin', 'v_lin'] },
  electra: { prefix: 'electra' },
  gte: { prefix: 'gte' },
  jina_bert: { prefix: 'bert' },
  modernbert: { withoutBiases: true },
  mpnet: { prefix: 'mpnet' },
  new: { prefix: 'new' },
  nomic_bert: { prefix: 'nomic_bert' },
  roberta: { prefix: 'roberta' },
  'xlm-roberta': { prefix: 'roberta' },
};

export function familyOf(modelType: string): OnnxFamily | undefined {
  return Object.hasOwn(kFamilies, modelType) ? kFamilies[modelType] : undefined;
}

export function prefixes(): string[] {
  return [...new Set(Object.values(kFamilies).flatMap(({ prefix }) => prefix ?? []))];
}

/** Returns why ONNX files of a `model_type` are not read; undefined if they are. */
export function refusedType(modelType: string): string | undefined {
  if (familyOf(modelType)) return undefined;
  return `ONNX files of models of type "${modelType.slice(0, 40)}" are not read; use model.safetensors`;
}
