// The terms of DeBERTa's attention scores before the softmax (He et al., 2020, equation 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace peruse {

// Matrices of one text, row-major, head h in the columns [h * head_dim, (h + 1) * head_dim).
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

// Each is [heads, tokens, tokens], with head h, query i and key j at (h * tokens + i) * tokens + j. The softmax of a row is taken of their
// sum.
std::vector<float> ContentToContent(const AttentionTerms& terms);   // scale query_i . key_j
std::vector<float> ContentToPosition(const AttentionTerms& terms);  // scale query_i . position_key[slot(i - j)]
std::vector<float> PositionToContent(const AttentionTerms& terms);  // scale key_j . position_query[slot(i - j)]

}  // namespace peruse
