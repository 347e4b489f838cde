#pragma once

#include <span>

#include "core/program/indices.h"
#include "core/program/program.h"

namespace peruse {

double Flops(const Program& program, const Op& op, const RaggedBatch& batch, const Sizes& sizes,
             std::span<const std::span<const int32_t>> indices);

}  // namespace peruse
