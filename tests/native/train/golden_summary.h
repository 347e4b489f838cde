// Compares tensors with the summaries that tests/reference/make_training_goldens.py and make_pretraining_goldens.py store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/train/recipes/trainee.h"
#include "tests/native/models/fixtures.h"

namespace peruse::train::testing {

using peruse::testing::TensorFile;

const TensorFile& PretrainingGoldens();

std::unique_ptr<Trainee> LoadTrainee(const peruse::testing::GoldenCase& golden, Head head);

double LargestGradient(const TensorFile& goldens, const std::string& prefix);

// `within` is relative to the tensor's largest value; `floor` is an absolute error that is always allowed.
void ExpectSummary(const TensorFile& goldens, const std::string& key, const float* values, int64_t size, double within,
                   double floor);

}  // namespace peruse::train::testing
