#include <algorithm>

#include "core/train/teacher.h"

namespace peruse::train {

Status Teacher::EndEpoch() {
  next_ = 0;
  const auto updates = static_cast<double>(epoch_updates_);
  report_.epochs.push_back({epoch_loss_ / updates, epoch_generator_loss_ / updates, std::nullopt});
  epoch_loss_ = epoch_generator_loss_ = 0;
  epoch_updates_ = 0;
  progress_.epoch = static_cast<int32_t>(report_.epochs.size());
  const bool last = by_text_ || progress_.epoch >= options_.epochs;
  if (sets_[kValidation].empty() || !(last || progress_.epoch % options_.validate_every == 0)) return NextEpoch();
  objective_->Reset(Columns());
  phase_ = Phase::kValidation;
  return OkStatus();
}

Status Teacher::NextEpoch() {
  const bool last = by_text_ || progress_.epoch >= options_.epochs;
  const bool tired = options_.patience > 0 && since_best_ >= options_.patience;
  phase_ = last || tired ? Phase::kDone : Phase::kTraining;
  if (phase_ == Phase::kTraining) Shuffle();
  if (phase_ == Phase::kDone && report_.best_epoch > 0 && report_.best_epoch != progress_.epoch) RestoreState();
  return OkStatus();
}

// Scores the next part of the examples. After the last part, stores the metrics of the epoch.
Status Teacher::Validate() {
  const std::vector<Example>& examples = sets_[kValidation];
  std::vector<const Example*> rest;
  for (size_t i = next_; i < examples.size() && rest.size() < static_cast<size_t>(options_.batch_size); ++i) {
    rest.push_back(&examples[i]);
  }
  Part part = PartsOf(rest).front();
  const size_t count = part.size();
  if (generator_) {
    PERUSE_ASSIGN_OR_RETURN(part, Replaced(part, /*learns=*/false, /*mass=*/1, static_cast<uint32_t>(next_)));
  }
  FillBatch(part);
  BringFeatures(part);
  PERUSE_RETURN_IF_ERROR(step_->Begin(Inputs(), Options(/*training=*/false), matrices_));
  step_->Forward();
  objective_->Observe(part, batch_, ByText(step_->output()));
  next_ += count;
  if (next_ < examples.size()) return OkStatus();
  next_ = 0;
  std::vector<const Example*> all;
  for (const Example& example : examples) all.push_back(&example);
  const Metrics metrics = objective_->Finish(objective_->Mass(all, Columns()));
  report_.epochs.back().validation = metrics;
  progress_.validated = true;
  if (report_.best_epoch == 0 || metrics.loss < best_ || !options_.keep_best) {
    best_ = metrics.loss;
    report_.best_epoch = progress_.epoch;
    since_best_ = 0;
    if (options_.keep_best) KeepState();
  } else {
    ++since_best_;
  }
  return NextEpoch();
}

void Teacher::KeepState() {
  kept_.clear();
  for (const Master& master : trainee_.masters().tensors()) {
    if (master.trained) kept_.insert(kept_.end(), master.values, master.values + master.size);
  }
  if (generator_) generator_->Keep(&kept_);
}

void Teacher::RestoreState() {
  const float* from = kept_.data();
  for (const Master& master : trainee_.masters().tensors()) {
    if (!master.trained) continue;
    std::copy_n(from, master.size, master.values);
    from += master.size;
  }
  if (generator_) generator_->Restore(from);
  trainee_.masters().Hold();
}

}  // namespace peruse::train
