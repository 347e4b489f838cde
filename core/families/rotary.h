// What encoders with rotary positions share: the configuration of the angles, self-attention on rotated queries and keys, gated
// feed-forward layers, and a whole encoder that norms after each half of a layer.
#pragma once

#include <string>
#include <vector>

#include "core/families/config.h"
#include "core/families/config_reader.h"
#include "core/program/build.h"

namespace peruse {

// What rope_parameters of transformers 5 (or rope_scaling of transformers 4) says: the base of the frequencies, and with rope_type
// "linear" their divisor. Refuses other types.
void ReadRope(ConfigReader& reader, JsonValue parameters, ops::RotaryAngles* angles);

// Refuses heads that do not divide the hidden size, or whose width is odd or not their quotient.
void RequireRotaryHeads(ConfigReader& reader, const ModelConfig& config);

// The linears of these names as one matrix: the rows of each weight `<name>.weight` [out, in] follow those of the name before, and with
// `bias` so do the values of `<name>.bias` [out].
Stack LinearsOf(Build& b, const std::vector<std::string>& names, int32_t in, int32_t out, bool bias);

// Self-attention of a layer. projected: queries, keys and values [tokens, 3 * hidden]; window: as in ops::Attention.
Value RotaryAttention(Build& b, const ModelConfig& config, int32_t layer, Value projected, Value angles,
                      int32_t window = ops::Attention::kAllKeys);

// How checkpoints call the linears and norms of a layer that norms after its halves, and which linears have a bias.
struct PostNormLayer {
  std::vector<std::string> projection;  // queries, keys, values: one tensor, or three
  std::string attention_output;
  std::string attention_norm;
  std::vector<std::string> up_and_gate;  // one tensor, or two; the activation is that of the gate
  std::string down;
  std::string norm;
  bool attention_bias = false;
  bool up_bias = false;
  bool down_bias = false;
  bool drops_gated = false;  // in training, dropout of what `down` reads
};

//   x = norm(x + attention_output(attention(x)));   x = norm(x + down(activation(gate(x)) * up(x)))
// for every layer, all outputs named. NomicBertModel, GteModel.
Value PostNormEncoder(Build& b, const ModelConfig& config, const ops::RotaryAngles& angles, Value embeddings,
                      const std::vector<PostNormLayer>& layers);

}  // namespace peruse
