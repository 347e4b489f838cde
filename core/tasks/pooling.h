// Pools the vectors of a text's tokens to one vector (sentence_transformers' Pooling, Dense and Normalize). Includes special tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tasks/sentence_modules.h"

namespace peruse {

// `tokens` is [count, width]. Ignores the first `skip` < count tokens. Concatenates the vectors of several modes.
std::vector<float> PoolTokens(std::span<const PoolingMode> modes, std::span<const float> tokens, size_t width,
                              size_t skip = 0);

// Returns activation(weight x + bias). weight: [out, in], row-major. bias may be empty.
std::vector<float> ApplyDense(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                              Activation activation);

void NormalizeVector(std::span<float> x);

}  // namespace peruse
