// Comparing tensors with what tests/reference/make_training_goldens.py and make_pretraining_goldens.py keep of them.
#pragma once

#include <cstdint>
#include <string>

#include "tests/native/models/fixtures.h"

namespace peruse::train::testing {

using peruse::testing::TensorFile;

// The largest gradient of all parameters whose names begin with this.
double LargestGradient(const TensorFile& goldens, const std::string& prefix);

// `within`: of the tensor's largest; `floor`: what may be wrong whatever that is.
void ExpectSummary(const TensorFile& goldens, const std::string& key, const float* values, int64_t size, double within,
                   double floor);

}  // namespace peruse::train::testing
