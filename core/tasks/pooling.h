// Pooling of a text's token vectors to one vector (sentence_transformers' Pooling, Dense and Normalize). Every token counts, including
// special ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tasks/sentence_modules.h"

namespace peruse {

// `tokens` is [count, width], without the first `skip`; count > skip. Concatenates the modes' vectors.
std::vector<float> PoolTokens(std::span<const PoolingMode> modes, std::span<const float> tokens, size_t width,
                              size_t skip = 0);

// y = activation(weight x + bias); weight [out, in], row-major; bias may be empty.
std::vector<float> ApplyDense(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                              DenseActivation activation);

// x / max(length of x, 1e-12)
void NormalizeVector(std::span<float> x);

}  // namespace peruse
