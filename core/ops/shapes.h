#pragma once

#include <span>

#include "core/formats/linear_spec.h"
#include "core/ops/index.h"
#include "core/ops/value.h"

namespace peruse::ops {

inline constexpr Extent kOneRow = {Domain::kOne, 1};
inline constexpr Extent kTokenRows = {Domain::kTokens, 1};

struct Shapes {
  std::span<const ValueInfo> values;    // indexed by Value
  std::span<const LinearSpec> linears;  // indexed by LinearId
  std::span<const Index> indices;       // indexed by IndexId

  const ValueInfo& operator()(Value value) const { return values[static_cast<size_t>(value.id)]; }
  const LinearSpec& operator()(LinearId id) const { return linears[static_cast<size_t>(id.id)]; }
  const Index& operator()(IndexId id) const { return indices[static_cast<size_t>(id.id)]; }

  int32_t cols(Value value) const { return (*this)(value).cols.factor; }
  bool Is(Value value, Extent rows, Extent cols) const {
    return value.valid() && (*this)(value).rows == rows && (*this)(value).cols == cols;
  }
  bool Is(Value value, Extent rows, int32_t cols) const { return Is(value, rows, Extent{Domain::kOne, cols}); }
  bool Alike(Value a, Value b) const { return a.valid() && b.valid() && Is(a, (*this)(b).rows, (*this)(b).cols); }
  bool NoneOrAlike(Value a, Value b) const { return !a.valid() || Alike(a, b); }
  bool IsNorm(const NormArgs& norm, int32_t width) const {
    return Is(norm.weight, kOneRow, width) && (!norm.bias.valid() || Is(norm.bias, kOneRow, width)) && norm.eps >= 0;
  }
};

}  // namespace peruse::ops
