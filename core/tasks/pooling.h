// From the vectors of a text's tokens to one vector (the reference: sentence_transformers, Pooling, Dense and Normalize). Every
// token that was read counts, special ones too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tasks/sentence_modules.h"

namespace peruse {

// `tokens`: [count, width]. The first `skip` of them are left out; count > skip. The modes' vectors one behind the other.
std::vector<float> PoolTokens(std::span<const PoolingMode> modes, std::span<const float> tokens, size_t width,
                              size_t skip = 0);

// y = activation(weight x + bias); weight [out, in], row by row; no bias: empty.
std::vector<float> ApplyDense(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                              DenseActivation activation);

// x / max(length of x, 1e-12)
void NormalizeVector(std::span<float> x);

}  // namespace peruse
