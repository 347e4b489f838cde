#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/train/example_batch.h"
#include "core/train/logistic.h"
#include "core/train/methods.h"
#include "core/train/step.h"

namespace peruse::train {

// Features of all examples: outputs of the part of a model that does not change, each computed once.
class FeatureCache {
 public:
  // All arguments must outlive the cache.
  FeatureCache(const CutProgram& cut, const HeldParameters& held, std::span<const Example> training,
               std::span<const Example> validation)
      : cut_(cut), step_(cut.features, held), sets_{training, validation} {}

  // Returns the bytes that the features of all examples, and a step over this batch, need. Errors: kOutOfMemory.
  Result<int64_t> Rehearse(const ExampleBatch& batch, const StepOptions& options);
  // Returns the next examples to compute, up to `count`; empty if all features are known.
  Part Next(size_t count) const;
  // Computes the features of `part`, the first examples of Next(). Errors: kOutOfMemory.
  Status Compute(const Part& part, const ExampleBatch& batch, const StepOptions& options);
  // Returns the features of these examples as a matrix, a row per token. Valid until the next call.
  std::span<const float> Rows(const Part& part);
  // Fits the classifier to the features of the training examples, with a row per text. See FitLogistic. With `logit_factor` there are no folds;
  // logits are multiplied by it and the root of half the number of labels.
  LogisticFit FitClassifier(const Objective& objective, uint64_t seed, std::optional<double> logit_factor,
                            Trainee& trainee) const;

 private:
  int64_t RowsOf(const Example& example) const { return cut_.by_text() ? 1 : static_cast<int64_t>(example.ids.size()); }
  size_t NumberOf(const Example* example) const;

  const CutProgram& cut_;
  Step step_;
  const std::span<const Example> sets_[2];
  std::vector<std::vector<float>> features_;  // one vector per example, training examples before validation examples
  std::vector<float> matrix_;
};

}  // namespace peruse::train
