#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace peruse {

// Operands of one text for DeBERTa's attention scores (He et al., 2020, equation 4), row-major. Head h has the columns [h * head_dim, (h +
// 1) * head_dim).
struct AttentionTerms {
  int32_t heads = 0;
  int32_t width = 0;                      // heads * head_dim
  float scale = 0;                        // multiplies every term
  std::span<const float> query;           // [tokens, width]
  std::span<const float> key;             // [tokens, width]
  std::span<const float> position_key;    // [slots, width]; empty without a content-to-position term
  std::span<const float> position_query;  // [slots, width]; empty without a position-to-content term
  std::span<const int32_t> slots;         // [2 * tokens - 1]: table row of each distance i - j, starting at 1 - tokens

  int32_t tokens() const { return width == 0 ? 0 : static_cast<int32_t>(query.size()) / width; }
};

// The three terms, each [heads, tokens, tokens]: head h, query i and key j is at (h * tokens + i) * tokens + j. Attention weights are the
// softmax over j of their sum.
std::vector<float> ContentToContent(const AttentionTerms& terms);   // scale query_i . key_j
std::vector<float> ContentToPosition(const AttentionTerms& terms);  // scale query_i . position_key[slot(i - j)]
std::vector<float> PositionToContent(const AttentionTerms& terms);  // scale key_j . position_query[slot(i - j)]

// Returns the metric C of the ConvBERT paper (Jiang et al., 2020, section 3.1): the attention weight within four positions of the diagonal,
// divided by the weight outside. Higher means more local; infinite if length <= 5. `map` has `length` rows of `stride` floats; the first
// `length` floats count.
double DiagonalConcentration(std::span<const float> map, int32_t length, int32_t stride);

}  // namespace peruse
