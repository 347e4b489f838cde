// Parts of encoders with rotary positions: configuration of angles, self-attention, gated feed-forward layers, and a post-norm encoder.
#pragma once

#include <string>
#include <vector>

#include "core/families/config.h"
#include "core/families/config_reader.h"
#include "core/program/build.h"

namespace peruse {

// Parses rope_parameters of transformers 5, or rope_scaling of transformers 4: the base of the frequencies, and their scaling. Rejects the
// types "longrope" and "proportional". `head_dim` is the width of a head, `positions` the value of max_position_embeddings.
struct RopeSizes {
  int32_t head_dim = 0;
  int32_t positions = 0;
};
void ReadRope(ConfigReader& reader, JsonValue parameters, const RopeSizes& sizes, ops::RotaryAngles* angles);
// The sizes of a model whose heads together are as wide as its hidden states.
RopeSizes RopeSizesOf(const ModelConfig& config);

// Requires that num_attention_heads divides hidden_size, and that the quotient is even and equals head_dim.
void RequireRotaryHeads(ConfigReader& reader, const ModelConfig& config);

// Stacks linear layers by rows: the weights `<name>.weight` [out, in] and, if `bias`, the values `<name>.bias` [out] of all names.
Stack LinearsOf(Build& b, const std::vector<std::string>& names, int32_t in, int32_t out, bool bias);

// Self-attention of a layer. projected: queries, keys and values [tokens, 3 * hidden]. angles: invalid if positions do not rotate queries and
// keys. window: see ops::Attention.
Value RotaryAttention(Build& b, const ModelConfig& config, int32_t layer, Value projected, Value angles,
                      int32_t window = ops::Attention::kAllKeys);

struct PostNormLayer {
  std::vector<std::string> projection;  // queries, keys, values: one tensor, or three
  std::string attention_output;
  std::string attention_norm;
  std::vector<std::string> up_and_gate;  // names of one tensor, or of two; the activation applies to the gate
  std::string down;
  std::string norm;
  bool attention_bias = false;
  bool up_bias = false;
  bool down_bias = false;
  bool drops_gated = false;  // in training, apply dropout to the input of `down`
  bool gated = true;         // otherwise `up_and_gate` names one layer, and the activation applies to its output
  // A mixture of experts instead of the layers above: `mixture` is the prefix of its names, which are those of megablocks.
  int32_t experts = 0;  // 0 means none
  int32_t chosen = 0;   // number of experts of a token
  std::string mixture;
};

// Builds an encoder whose layers are x = norm(x + attention_output(attention(x))); x = norm(x + down(activation(gate(x)) * up(x))).
// PostNormLayer says which layers have no gate, or experts. Names all outputs. transformers: NomicBertModel, GteModel.
Value PostNormEncoder(Build& b, const ModelConfig& config, const ops::RotaryAngles& angles, Value embeddings,
                      const std::vector<PostNormLayer>& layers);

}  // namespace peruse
