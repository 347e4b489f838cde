#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cpu/simd.h"
#include "core/tensor/ragged_batch.h"

namespace peruse::cpu {

// The taps j of a convolution with `taps` taps for which row t + j - (taps - 1) / 2 is in [start, end).
struct TapRange {
  TapRange(int64_t t, int64_t taps, int64_t start, int64_t end)
      : first(std::max<int64_t>(0, start - t + (taps - 1) / 2)),
        last(std::min<int64_t>(taps, end - t + (taps - 1) / 2)),
        first_row(t + first - (taps - 1) / 2) {}

  int64_t first;
  int64_t last;       // one past the last tap
  int64_t first_row;  // the row that tap `first` reads
};

// Calls visit(t, start, end) for every row t in [first, last), where [start, end) are the rows of t's text.
template <typename Visit>
void ForEachRow(const RaggedBatch& batch, int64_t first, int64_t last, Visit visit) {
  const auto& starts = batch.starts();
  auto next = std::upper_bound(starts.begin(), starts.end(), static_cast<int32_t>(first));
  for (int64_t t = first; t < last; ++t) {
    if (t == *next) ++next;
    visit(t, int64_t{*(next - 1)}, int64_t{*next});
  }
}

// Returns the sum over j of weight(j, column) * row_j[column], for vectors of columns.
template <typename TapWeight>
void SumTaps(const float* rows, int64_t stride, int64_t first_tap, int64_t last_tap, int64_t count, float* out,
             TapWeight weight) {
  int64_t c = 0;
  for (; c + simd::kLanes <= count; c += simd::kLanes) {
    simd::Floats sum = simd::hn::Zero(simd::kTag);
    const float* source = rows + c;
    for (int64_t j = first_tap; j < last_tap; ++j, source += stride)
      sum = simd::Madd(weight(j, c), simd::Load(source), sum);
    simd::Store(sum, out + c);
  }
  if (c == count) return;
  simd::Floats sum = simd::hn::Zero(simd::kTag);
  const float* source = rows + c;
  for (int64_t j = first_tap; j < last_tap; ++j, source += stride) {
    sum = simd::Madd(weight(j, c), simd::LoadFirst(source, count - c), sum);
  }
  simd::StoreFirst(sum, out + c, count - c);
}

}  // namespace peruse::cpu
