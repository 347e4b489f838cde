#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/train/ops/step.h"
#include "core/train/recipes/logistic.h"
#include "core/train/recipes/methods.h"
#include "core/train/recipes/objective.h"

namespace peruse::train {

// Features of all examples: outputs of the part of a model that does not change, each computed once.
class FeatureCache {
 public:
  // One vector per example, training examples before validation examples.
  using Features = std::vector<std::vector<float>>;

  // `below`: features of all examples that cut.features starts from; empty if it starts from the ids. The other arguments must outlive the cache.
  FeatureCache(const CutProgram& cut, const PackedParameters& packed, std::span<const Example> training,
               std::span<const Example> validation, Features below = {})
      : cut_(cut), step_(cut.features, packed), sets_{training, validation}, below_(std::move(below)) {}

  // Returns the bytes that the features of all examples, and a step over this batch, need. Errors: kOutOfMemory.
  Result<int64_t> Rehearse(const ExampleBatch& batch, const StepOptions& options);
  // Returns the next examples to compute, up to `count`; empty if all features are known.
  Part Next(size_t count) const;
  // Computes the features of `part`, the first examples of Next(). Errors: kOutOfMemory.
  Status Compute(const Part& part, const ExampleBatch& batch, const StepOptions& options);
  // Returns the features of these examples as a matrix, a row per token. Valid until the next call.
  std::span<const float> Rows(const Part& part) { return Gather(features_, part); }
  // Returns the features of all examples, which the cache then lacks.
  Features Take() { return std::move(features_); }
  // Fits the classifier to the features of the training examples, with a row per text. See FitLogistic. With `logit_factor` there are no folds;
  // logits are multiplied by it and the root of half the number of labels.
  LogisticFit FitClassifier(const Objective& objective, uint64_t seed, std::optional<double> logit_factor,
                            Trainee& trainee) const;

 private:
  int64_t RowsOf(const Example& example) const { return cut_.by_text() ? 1 : static_cast<int64_t>(example.ids.size()); }
  size_t NumberOf(const Example* example) const;
  std::span<const float> Gather(const Features& features, const Part& part);

  const CutProgram& cut_;
  Step step_;
  const std::span<const Example> sets_[2];
  const Features below_;
  Features features_;
  std::vector<float> matrix_;
};

}  // namespace peruse::train
