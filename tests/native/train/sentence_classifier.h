// The classifier of sentence vectors of tests/reference/make_attribution_goldens.py, as the weights of sentence-transformers' Dense.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/native/weights/safetensors_writer.h"

namespace peruse::train::testing {

inline std::string SentenceClassifier(int32_t hidden) {
  constexpr int32_t kLabels = 3;
  std::vector<float> weight, bias;
  for (int32_t label = 0; label < kLabels; ++label) {
    for (int32_t c = 0; c < hidden; ++c) weight.push_back(static_cast<float>((label * 7 + c * 5) % 11 - 5) / 4);
    bias.push_back(static_cast<float>(label) / 2);
  }
  peruse::testing::SafetensorsWriter writer;
  writer.Add("linear.weight", {kLabels, hidden}, weight);
  writer.Add("linear.bias", {kLabels}, bias);
  return writer.File();
}

}  // namespace peruse::train::testing
