// Which parameters the engine stores as rows of int8 with dtype 'q8'. Must match core/families.
import type { ParameterInfo } from './onnx_part.js';

/** Linear layers of encoder layers, except those that are stored as float32. */
const kEncoderLinear = /(^|\.)(encoder|transformer)\.layer\.\d+\.(?!.*(\.pos_|distance_embedding)).*(?<!\.conv)\.weight$/;
const kModernBertLinear = /(^|\.)layers\.\d+\.(attn\.Wqkv|attn\.Wo|mlp\.Wi|mlp\.Wo)\.weight$/;
/** Token embeddings, and the linear layers that share or follow them. */
const kWords =
  /^decoder\.weight$|(^|\.)(embeddings\.word_embeddings|embeddings\.tok_embeddings|embeddings\.embed_proj|embeddings_project|generator_lm_head|cls\.predictions\.decoder|lm_head\.decoder|vocab_projector)\.weight$/;

/** Whether dtype 'q8' stores the tensor as int8 with one row per output channel. Others are quantised while loading, if at all. */
export function isEncodable({ name, dtype, shape }: ParameterInfo): boolean {
  const matrix = shape.length === 2 || (name.endsWith('.pointwise.weight') && shape.length === 3 && shape[2] === 1);
  const isNamed = [kEncoderLinear, kModernBertLinear, kWords].some((names) => names.test(name));
  return ['F32', 'F16', 'BF16'].includes(dtype) && matrix && !shape.includes(0) && isNamed;
}
