#include "core/backend/xnnpack/packed_linear.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/gemm.h"
#include "core/backend/xnnpack/int8_gemm.h"

namespace peruse::xnnpack {

int64_t PackedLinear::PaddedWidth() const { return RoundUp(group_width(), q8() ? Int8TileCols() : TileCols()); }

int64_t PackedLinear::ColumnBytes() const {
  const int64_t values = q8() ? 3 : half() ? 1 : 0;
  return values * spec_.groups * PaddedWidth() * static_cast<int64_t>(sizeof(float));
}

int64_t PackedLinear::bytes() const {
  const int64_t columns = spec_.groups * PaddedWidth();
  if (q8()) return columns * Int8Depth(ChosenInt8Path(), depth()) + ColumnBytes();
  if (half()) return columns * depth() * static_cast<int64_t>(sizeof(uint16_t)) + ColumnBytes();
  return columns * (depth() + 1) * static_cast<int64_t>(sizeof(float));
}

float* PackedLinear::group(int64_t g) const {
  return reinterpret_cast<float*>(bytes_.get()) + g * PackedFloats(depth(), group_width());
}

uint16_t* PackedLinear::group_halves(int64_t g) const {
  return reinterpret_cast<uint16_t*>(bytes_.get()) + g * PaddedWidth() * depth();
}

const int8_t* PackedLinear::Int8Panels(int64_t g, int64_t first) const {
  const int64_t group_bytes = PaddedWidth() * Int8Depth(ChosenInt8Path(), depth());
  return reinterpret_cast<const int8_t*>(bytes_.get()) + g * group_bytes +
         Int8PanelOffset(ChosenInt8Path(), depth(), first);
}

Result<PackedLinear> PackedLinear::Create(const LinearSpec& spec) {
  PackedLinear linear(spec);
  const int64_t weight_bytes = linear.bytes() - linear.ColumnBytes();
  linear.bytes_ = AllocateAligned(weight_bytes);
  linear.columns_ = AllocateAligned(linear.ColumnBytes());
  if (!linear.bytes_ || !linear.columns_) return OutOfMemory("no memory for a linear layer's weights");
  std::memset(linear.bytes_.get(), 0, static_cast<size_t>(weight_bytes));  // zero in every type
  std::memset(linear.columns_.get(), 0, static_cast<size_t>(linear.ColumnBytes()));
  return linear;
}

void PackedLinear::WriteRows(int32_t first_row, std::span<const float> rows) {
  int64_t row = first_row;
  int64_t left = static_cast<int64_t>(rows.size()) / depth();
  const float* values = rows.data();
  while (left > 0) {
    const int64_t g = row / group_width();
    const int64_t first = row % group_width();
    const int64_t count = std::min(left, group_width() - first);
    if (half()) {
      PackHalfColumns(values, depth(), depth(), first, count, group_halves(g));
    } else {
      PackColumns(values, depth(), depth(), first, count, group(g));
    }
    values += count * depth();
    row += count;
    left -= count;
  }
}

void PackedLinear::WriteInt8(int32_t first_row, std::span<const int8_t> rows) {
  const int64_t count = static_cast<int64_t>(rows.size()) / depth();
  const int8_t* values = rows.data();
  for (int64_t row = first_row; row < first_row + count; ++row, values += depth()) {
    const int64_t g = row / group_width();
    const int64_t col = row % group_width();
    PackInt8Columns(ChosenInt8Path(), values, depth(), col, 1, const_cast<int8_t*>(Int8Panels(g, 0)));
    const_cast<int32_t*>(weight_sums(g))[col] = std::accumulate(values, values + depth(), int32_t{0});
  }
}

void PackedLinear::WriteScales(int32_t first_row, std::span<const float> scales) {
  for (size_t i = 0; i < scales.size(); ++i) {
    const int64_t row = first_row + static_cast<int64_t>(i);
    columns(kScales, row / group_width())[row % group_width()] = scales[i];
  }
}

void PackedLinear::WriteBias(int32_t first, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t row = first + static_cast<int64_t>(i);
    const int64_t g = row / group_width();
    const int64_t col = row % group_width();
    if (half() || q8()) {
      columns(kBiases, g)[col] = values[i];
    } else {
      group(g)[PanelOffset(depth(), col - col % TileCols()) + col % TileCols()] = values[i];
    }
  }
}

const float* PackedLinear::Panels(int64_t g, int64_t first, int64_t count, float* scratch) const {
  if (!half()) return group(g) + PanelOffset(depth(), first);
  ExpandHalfPanels(group_halves(g) + first * depth(), biases(g) + first, depth(), count, scratch);
  return scratch;
}

}  // namespace peruse::xnnpack
