#pragma once

#include <functional>

#include "tests/native/ops/op_case.h"

namespace peruse::testing {

// Draws a few cases, always the same; with --gtest_shuffle each repetition draws others (npm run test:kernels).
void ForRandomCases(const Cases& cases, const std::function<void(const OpCase& c)>& check);

}  // namespace peruse::testing
