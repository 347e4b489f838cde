#include "core/cpu/packed_linear.h"

#include <cstring>

namespace peruse::cpu {

namespace {

struct Kernel {
  Precision precision;
  std::unique_ptr<PackedLinear> (*create)(const LinearSpec& spec);
};

constexpr Kernel kKernels[] = {
    {Precision::kF32, CreateF32Linear},
    {Precision::kF16, CreateF16Linear},
    {Precision::kQ8, CreateQ8Linear},
    {Precision::kQ4, CreateQ4Linear},
};

}  // namespace

PackedLinear::PackedLinear(const LinearSpec& spec, int64_t tile_cols)
    : spec_(spec), padded_width_(RoundUp(spec.out / spec.groups, tile_cols)) {}

Result<std::unique_ptr<PackedLinear>> PackedLinear::Create(const LinearSpec& spec) {
  for (const Kernel& kernel : kKernels) {
    if (kernel.precision != spec.precision) continue;
    std::unique_ptr<PackedLinear> linear = kernel.create(spec);
    if (linear == nullptr) return OutOfMemory("no memory for a linear layer's weights");
    return linear;
  }
  return InternalError("a weight format has no kernel");
}

bool PackedLinear::Allocate(int64_t weight_bytes, int64_t values) {
  weight_bytes_ = weight_bytes;
  column_bytes_ = values * spec_.groups * padded_width_ * static_cast<int64_t>(sizeof(float));
  weights_ = AllocateAligned(weight_bytes_);
  columns_ = AllocateAligned(column_bytes_);
  if (!weights_ || !columns_) return false;
  // Zero bytes represent zero in every weight format.
  std::memset(weights_.get(), 0, static_cast<size_t>(weight_bytes_));
  std::memset(columns_.get(), 0, static_cast<size_t>(column_bytes_));
  return true;
}

void PackedLinear::WriteColumns(int64_t what, int32_t first, std::span<const float> values) {
  ForRows(first, static_cast<int64_t>(values.size()),
          [&](int64_t group, int64_t col, int64_t i) { columns(what, group)[col] = values[static_cast<size_t>(i)]; });
}

}  // namespace peruse::cpu
