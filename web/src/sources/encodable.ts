// Which parameters the engine stores as rows of 8-bit integers.
import type { ParameterInfo } from './onnx_part.js';

/** Linear layers within encoder layers, except those that are folded into float32 tables or kept as such. */
const kEncoderLinear = /(^|\.)(encoder|transformer)\.layer\.\d+\.(?!.*(\.pos_|distance_embedding)).*(?<!\.conv)\.weight$/;
/** The same of ModernBERT. */
const kModernBertLinear = /(^|\.)layers\.\d+\.(attn\.Wqkv|attn\.Wo|mlp\.Wi|mlp\.Wo)\.weight$/;
/** Word embeddings and the linears over or under them. */
const kWords =
  /^decoder\.weight$|(^|\.)(embeddings\.word_embeddings|embeddings\.tok_embeddings|embeddings\.embed_proj|embeddings_project|generator_lm_head|cls\.predictions\.decoder|lm_head\.decoder|vocab_projector)\.weight$/;

/**
 * Whether dtype q8 holds the tensor as int8 (core/families says so, layer by layer) and its rows are the output channels. What
 * isn't, or lies otherwise (grouped linears, convolutions), stays as it is and is quantised while loading if need be.
 */
export function isEncodable({ name, dtype, shape }: ParameterInfo): boolean {
  const matrix = shape.length === 2 || (name.endsWith('.pointwise.weight') && shape.length === 3 && shape[2] === 1);
  const isNamed = [kEncoderLinear, kModernBertLinear, kWords].some((names) => names.test(name));
  return ['F32', 'F16', 'BF16'].includes(dtype) && matrix && !shape.includes(0) && isNamed;
}
