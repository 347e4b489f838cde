// 4 bits: a row in groups of 32 values, each with a scale of its own: value = (q - 8) * scale, with q in 0...15. The value of largest
// magnitude gets q = 0, so a scale may be negative. A group takes 16 bytes: value k is in byte k / 2, in the low half if k is even. The
// last group of a row is filled with zeros. MatMulNBits of ONNX has the same layout (block_size 32, no zero points).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace peruse {

inline constexpr int64_t kInt4Group = 32;
inline constexpr int64_t kInt4GroupBytes = kInt4Group / 2;

constexpr int64_t Int4Groups(int64_t width) { return (width + kInt4Group - 1) / kInt4Group; }

// Adds a row of out.size() values. scale(g) returns the scale of group g.
template <typename Scale>
void AddInt4Row(const uint8_t* payload, Scale scale, std::span<float> out) {
  for (size_t first = 0; first < out.size(); first += kInt4Group, payload += kInt4GroupBytes) {
    const float step = scale(first / kInt4Group);
    const size_t count = std::min<size_t>(kInt4Group, out.size() - first);
    for (size_t k = 0; k < count; ++k) {
      const int32_t q = (payload[k / 2] >> (k % 2 == 0 ? 0 : 4)) & 15;
      out[first + k] += step * static_cast<float>(q - 8);
    }
  }
}

}  // namespace peruse
