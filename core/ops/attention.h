// Softmax attention within each text (Vaswani et al., 2017), with DeBERTa's position terms (He et al., 2020, equation 4), with a bias for
// each distance and head (Raffel et al., 2020, section 2.1), or over a window of keys (Beltagy et al., 2020). Several heads may share keys
// and values (Ainslie et al., 2023), and a head may have a sink (Xiao et al., 2023).
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "core/ops/value.h"

namespace peruse::ops {

// out = softmax(scale (q k^T + position terms) + bias) v, per head and within each text. Head h uses the columns [h * head_dim, (h + 1) *
// head_dim) of queries and results, and those of head h / (heads / kv_heads) of keys and values. With s = slots[(i - j) + longest - 1], the score of query i and key j adds query_i . position_key[s] and key_j .
// position_query[s], or position_bias[s, h].
struct Attention {
  static constexpr const char* kName = "attention";
  static constexpr Reads kReads = Reads::kBatch;
  static constexpr int32_t kAllKeys = std::numeric_limits<int32_t>::max();

  Value query;  // [tokens, heads * head_dim]
  Value key;    // [tokens, kv_heads * head_dim]; kv_heads divides heads
  Value value;  // [tokens, kv_heads * head_dim]
  int32_t heads = 1;
  float scale = 1;       // multiplies the whole score, position terms included; not negative
  Value position_key;    // [slots, heads * head_dim], constant; invalid without a content-to-position term
  Value position_query;  // [slots, heads * head_dim], constant; invalid without a position-to-content term
  Value position_bias;   // [slots, heads], constant; excludes the two terms, and needs a positive scale
  // [1, heads], constant: each head's sink (Xiao et al., 2023), a score that takes part in the softmax but belongs to no key. It is not
  // multiplied by the scale, which must be positive. Invalid without sinks.
  Value sinks;
  IndexId slots;  // [2 * longest - 1]
  // Query i attends to the keys i - before .. i + after. Position terms need all keys, and as many key heads as query heads.
  int32_t before = kAllKeys;
  int32_t after = kAllKeys;
  Value out;  // [tokens, heads * head_dim]
  // [heads * tokens, longest]; invalid unless requested. Row (first token of the text) * heads + h * length + i holds head h and query i.
  // Columns past the text's length are zero.
  Value probabilities;

  // Query i of a text with `length` keys (RaggedBatch::keys) attends to the keys [FirstKey, EndKey), which are at least one.
  int32_t FirstKey(int32_t i) const { return i > before ? i - before : 0; }
  int32_t EndKey(int32_t i, int32_t length) const { return after < length - i ? i + after + 1 : length; }

  bool SeesAllKeys() const { return before == kAllKeys && after == kAllKeys; }

  auto Inputs() { return std::array{&query, &key, &value, &position_key, &position_query, &position_bias, &sinks}; }
  auto Outputs() { return std::array{&out, &probabilities}; }
};

bool Fits(const Attention& op, const Shapes& s);
void Compute(const Attention& op, const Numbers& n);
void Gradient(const Attention& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Attention& op, Value result, const Numbers& n);

}  // namespace peruse::ops
