// Features: outputs of the frozen part of a model, which are computed once. Also fits a text classifier to them.
#include <algorithm>

#include "core/train/folds.h"
#include "core/train/teacher.h"

namespace peruse::train {

Status Teacher::ComputeFeatures() {
  const size_t training = sets_[kTraining].size(), count = features_.size();
  const auto example = [&](size_t i) {
    return i < training ? &sets_[kTraining][i] : &sets_[kValidation][i - training];
  };
  std::vector<const Example*> rest;
  for (size_t i = next_; i < count && rest.size() < static_cast<size_t>(options_.batch_size); ++i)
    rest.push_back(example(i));
  const Part part = PartsOf(rest).front();
  FillBatch(part);
  PERUSE_RETURN_IF_ERROR(features_step_->Begin(Inputs(), Options(/*training=*/false)));
  features_step_->Forward();
  const Block out = features_step_->output();
  for (size_t i = 0; i < part.size(); ++i) {
    const auto text = static_cast<int32_t>(i);
    const int64_t first = by_text_ ? text : batch_.start(text);
    const int64_t rows = by_text_ ? 1 : batch_.length(text);
    std::vector<float>& own = features_[next_ + i];
    for (int64_t r = first; r < first + rows; ++r) own.insert(own.end(), out.row(r), out.row(r) + out.cols);
  }
  next_ += part.size();
  if (next_ < count) return OkStatus();
  next_ = 0;
  phase_ = by_text_ ? Phase::kFit : Phase::kTraining;
  return OkStatus();
}

Status Teacher::FitHead() {
  const size_t rows = sets_[kTraining].size();
  const auto labels = static_cast<int64_t>(trainee_.config().num_labels());
  std::vector<float> features, targets;
  double mass = 0;  // total weight of the examples
  for (size_t i = 0; i < rows; ++i) {
    const Example& example = sets_[kTraining][i];
    features.insert(features.end(), features_[i].begin(), features_[i].end());
    targets.insert(targets.end(), example.targets.begin(), example.targets.end());
    mass += example.targets.empty() ? CrossEntropyMass(example.labels, objective_->cross_entropy()) : 1;
    for (int64_t k = 0; example.targets.empty() && k < labels; ++k) {
      targets.push_back(
          static_cast<float>(CrossEntropyTarget(example.labels[0], k, labels, objective_->cross_entropy())));
    }
  }
  for (float& target : targets) target *= static_cast<float>(static_cast<double>(rows) / mass);
  const int32_t folds = FoldCount(rows);
  const bool sigmoid = objective_->traits().link == Objective::Link::kSigmoid;
  const LogisticFit fit =
      FitLogistic({features, targets, static_cast<int64_t>(rows), features_width_, labels, sigmoid},
                  FoldsOf(sets_[kTraining], folds, options_.seed), folds, trainee_.masters().workers());
  for (size_t i = 0; !sigmoid && i < rows; ++i) {
    const auto count = static_cast<size_t>(labels);
    report_.guesses.push_back(GuessOf(std::span(fit.held_out).subspan(i * count, count)));
  }
  const std::string bias = classifier_.substr(0, classifier_.size() - 6) + "bias";
  for (Master& master : trainee_.masters().tensors()) {
    if (master.name == classifier_) std::copy(fit.weight.begin(), fit.weight.end(), master.values);
    if (master.name == bias) std::copy(fit.bias.begin(), fit.bias.end(), master.values);
  }
  trainee_.masters().Hold();
  report_.l2 = fit.l2;
  progress_.loss = epoch_loss_ = fit.loss;
  report_.losses.push_back(fit.loss);
  epoch_updates_ = 1;
  report_.steps = progress_.step = updates_ = 1;
  return EndEpoch();
}

// Collects the features of a part's examples as the matrix that the program reads.
void Teacher::BringFeatures(const Part& part) {
  if (features_width_ == 0 || by_text_) return;
  matrix_.clear();
  for (const Example* example : part) {
    const Example* first = sets_[kTraining].data();
    const bool training = example >= first && example < first + sets_[kTraining].size();
    const size_t number = training ? static_cast<size_t>(example - first)
                                   : sets_[kTraining].size() + static_cast<size_t>(example - sets_[kValidation].data());
    matrix_.insert(matrix_.end(), features_[number].begin(), features_[number].end());
  }
  matrices_ = {matrix_};
}

}  // namespace peruse::train
