#include "core/train/recipes/feature_cache.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/train/recipes/folds.h"

namespace peruse::train {

size_t FeatureCache::NumberOf(const Example* example) const {
  const auto& [training, validation] = sets_;
  const bool of_training = example >= training.data() && example < training.data() + training.size();
  return of_training ? static_cast<size_t>(example - training.data())
                     : training.size() + static_cast<size_t>(example - validation.data());
}

Result<int64_t> FeatureCache::Rehearse(const ExampleBatch& batch, const StepOptions& options) {
  PERUSE_RETURN_IF_ERROR(step_.Begin(batch.inputs(), options));
  int64_t rows = 0;
  for (const auto& set : sets_) {
    for (const Example& example : set) rows += RowsOf(example);
  }
  return step_.bytes() + rows * cut_.width * static_cast<int64_t>(sizeof(float));
}

Part FeatureCache::Next(size_t count) const {
  Part next;
  size_t number = 0;
  for (const auto& set : sets_) {
    for (const Example& example : set) {
      if (number++ >= features_.size() && next.size() < count) next.push_back(&example);
    }
  }
  return next;
}

Status FeatureCache::Compute(const Part& part, const ExampleBatch& batch, const StepOptions& options) {
  const std::span<const float> matrix = Gather(below_, part);
  PERUSE_RETURN_IF_ERROR(step_.Begin(batch.inputs(), options, std::span(&matrix, below_.empty() ? 0 : 1)));
  step_.Forward();
  const Block out = step_.output();
  int64_t row = 0;
  for (const Example* example : part) {
    std::vector<float>& own = features_.emplace_back();
    for (const int64_t end = row + RowsOf(*example); row < end; ++row) {
      own.insert(own.end(), out.row(row), out.row(row) + out.cols);
    }
  }
  return OkStatus();
}

std::span<const float> FeatureCache::Gather(const Features& features, const Part& part) {
  matrix_.clear();
  if (features.empty()) return matrix_;
  for (const Example* example : part) {
    const std::vector<float>& own = features[NumberOf(example)];
    matrix_.insert(matrix_.end(), own.begin(), own.end());
  }
  return matrix_;
}

LogisticFit FeatureCache::FitClassifier(const Objective& objective, uint64_t seed, std::optional<double> logit_factor,
                                        Trainee& trainee) const {
  const std::span<const Example> examples = sets_[0];
  const auto labels = static_cast<int64_t>(trainee.config().num_labels());
  std::vector<float> features, targets;
  double mass = 0;  // total weight of the examples
  for (size_t i = 0; i < examples.size(); ++i) {
    const Example& example = examples[i];
    features.insert(features.end(), features_[i].begin(), features_[i].end());
    targets.insert(targets.end(), example.targets.begin(), example.targets.end());
    mass += example.targets.empty() ? CrossEntropyMass(example.labels, objective.cross_entropy()) : 1;
    for (int64_t k = 0; example.targets.empty() && k < labels; ++k) {
      targets.push_back(
          static_cast<float>(CrossEntropyTarget(example.labels[0], k, labels, objective.cross_entropy())));
    }
  }
  const auto rows = static_cast<int64_t>(examples.size());
  for (float& target : targets) target *= static_cast<float>(static_cast<double>(rows) / mass);
  const int32_t folds = logit_factor ? 0 : FoldCount(examples.size());
  const bool sigmoid = objective.traits().link == Objective::Link::kSigmoid;
  const std::vector<int32_t> numbers = logit_factor ? std::vector<int32_t>() : FoldsOf(examples, folds, seed);
  LogisticData data = {features, targets, rows, cut_.width, labels, sigmoid};
  if (logit_factor) data.factor = *logit_factor * std::sqrt(static_cast<double>(labels) / 2);
  LogisticFit fit = FitLogistic(data, numbers, folds, trainee.packed()->workers());
  const std::string bias = cut_.solved.substr(0, cut_.solved.size() - 6) + "bias";
  for (WeightTensor& weight_tensor : trainee.weight_tensors().tensors()) {
    if (weight_tensor.name == cut_.solved) std::copy(fit.weight.begin(), fit.weight.end(), weight_tensor.values);
    if (weight_tensor.name == bias) std::copy(fit.bias.begin(), fit.bias.end(), weight_tensor.values);
  }
  trainee.packed()->Pack();
  return fit;
}

}  // namespace peruse::train
