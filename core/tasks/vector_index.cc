#include "core/tasks/vector_index.h"

#include <algorithm>
#include <cmath>

namespace peruse {
namespace {

// Four floats, where the machine has them (clang's vector extension; in wasm, SIMD).
typedef float Float4 __attribute__((vector_size(16), aligned(4)));

float Product(const float* a, const float* b, size_t count) {
  Float4 sums[4] = {};
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (size_t lane = 0; lane < 4; ++lane) {
      sums[lane] +=
          *reinterpret_cast<const Float4*>(a + i + 4 * lane) * *reinterpret_cast<const Float4*>(b + i + 4 * lane);
    }
  }
  const Float4 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float product = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (; i < count; ++i) product += a[i] * b[i];
  return product;
}

bool Better(const VectorIndex::Hit& one, const VectorIndex::Hit& other) {
  return one.score != other.score ? one.score > other.score : one.row < other.row;
}

}  // namespace

Status VectorIndex::Resize(size_t rows) { return rows_.Resize(rows * width_); }

std::optional<size_t> VectorIndex::FirstBadRow() const {
  const std::span<const float> values = rows_.values();
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return std::nullopt;
  return static_cast<size_t>(bad - values.begin()) / width_;
}

std::vector<VectorIndex::Hit> VectorIndex::Search(size_t k) const {
  const std::span<const float> values = rows_.values();
  const size_t rows = values.size() / width_;
  std::vector<Hit> best;  // a heap, the worst in front
  best.reserve(std::min(k, rows) + 1);
  for (size_t row = 0; k > 0 && row < rows; ++row) {
    const Hit hit{row, Product(&values[row * width_], query_.data(), width_)};
    if (best.size() == k && !Better(hit, best.front())) continue;
    best.push_back(hit);
    std::push_heap(best.begin(), best.end(), Better);
    if (best.size() <= k) continue;
    std::pop_heap(best.begin(), best.end(), Better);
    best.pop_back();
  }
  std::sort_heap(best.begin(), best.end(), Better);
  return best;
}

}  // namespace peruse
