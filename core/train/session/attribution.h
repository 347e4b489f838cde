// Integrated gradients (Sundararajan et al., 2017): attributes the difference between a text's value and a baseline's to the text's tokens.
// The value is a logit, or a sum of logits. The path is straight in the space of word embeddings, and the integral is computed by
// Gauss-Legendre quadrature, as in Captum.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/train/ops/step.h"
#include "core/train/recipes/trainee.h"

namespace peruse::train {

struct AttributionRequest {
  std::vector<int32_t> ids, types;  // not empty
  std::vector<int32_t> baseline;    // ids of the baseline; a token that stays the same gets 0
  struct Logit {
    int32_t row;  // token; 0 for heads on texts
    int32_t column;
  };
  std::vector<Logit> logits;
  int32_t steps = 50;  // points of the quadrature
};

struct Attribution {
  std::vector<double> tokens;  // their sum approaches value - baseline_value as `steps` grows
  double value = 0, baseline_value = 0;
};

class Attributor {
 public:
  // The trainee must have weights, must not be in training, and must outlive the object.
  static Result<std::unique_ptr<Attributor>> Create(Trainee& trainee, int32_t threads);

  // Errors: kOutOfMemory; kUnsupported if a value is NaN or infinity.
  Result<Attribution> Attribute(const AttributionRequest& request);

 private:
  explicit Attributor(EmbeddingInputProgram model) : model_(std::move(model)) {}

  struct Point {
    double position;  // 0 is the baseline, 1 the text
    double weight;
  };
  // Runs the points as one batch. Adds weighted gradients to `gradients` [tokens, width], and appends the values.
  Status Run(const AttributionRequest& request, std::span<const Point> points, std::vector<double>* gradients,
             std::vector<double>* values);
  const float* EmbeddingOf(int32_t id) const;

  EmbeddingInputProgram model_;
  const PackedParameters* packed_ = nullptr;
  std::unique_ptr<Step> step_;
};

}  // namespace peruse::train
