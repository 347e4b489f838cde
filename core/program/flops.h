#pragma once

#include <span>

#include "core/program/indices.h"
#include "core/program/program.h"

namespace peruse {

// Counts floating-point operations of products and convolutions, two per multiply-add, for benchmarks. `indices` are BatchIndices::views.
double Flops(const Program& program, const Op& op, const RaggedBatch& batch, const Sizes& sizes,
             std::span<const std::span<const int32_t>> indices);

}  // namespace peruse
