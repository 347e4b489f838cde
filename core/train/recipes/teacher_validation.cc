#include <algorithm>
#include <utility>

#include "core/train/recipes/teacher.h"

namespace peruse::train {

Status Teacher::EndEpoch() {
  next_ = 0;
  const EpochSums sums = std::exchange(epoch_, {});
  const auto updates = static_cast<double>(sums.updates);
  report_.epochs.push_back({sums.loss / updates, sums.generator_loss / updates, std::nullopt});
  progress_.epoch = static_cast<int32_t>(report_.epochs.size());
  const bool validates = IsLastEpoch() || progress_.epoch % options_.validate_every == 0;
  if (sets_[kValidation].empty() || !validates) return NextEpoch();
  objective_->Reset(Columns());
  phase_ = Phase::kValidation;
  return OkStatus();
}

Status Teacher::NextEpoch() {
  const bool tired = options_.patience > 0 && best_.epochs_since >= options_.patience;
  phase_ = IsLastEpoch() || tired ? Phase::kDone : Phase::kTraining;
  if (phase_ == Phase::kTraining) Shuffle();
  if (phase_ == Phase::kDone && report_.best_epoch > 0 && report_.best_epoch != progress_.epoch) RestoreBest();
  return OkStatus();
}

// Scores the next part of the examples. After the last part, stores the metrics of the epoch.
Status Teacher::Validate() {
  const std::vector<Example>& examples = sets_[kValidation];
  Part rest;
  for (size_t i = next_; i < examples.size() && rest.size() < static_cast<size_t>(options_.batch_size); ++i) {
    rest.push_back(&examples[i]);
  }
  Part part = PartsOf(rest).front();
  const size_t count = part.size();
  const StepOptions options = Options(/*training=*/false);
  if (pretraining_) {
    PERUSE_ASSIGN_OR_RETURN(part, pretraining_->Replace(part, options, static_cast<uint32_t>(next_)));
  }
  PERUSE_RETURN_IF_ERROR(BeginStep(part, options));
  step_->Forward();
  objective_->Observe(part, batch_.rows(), ByText(step_->output()));
  next_ += count;
  if (next_ < examples.size()) return OkStatus();
  next_ = 0;
  Part all;
  for (const Example& example : examples) all.push_back(&example);
  const Metrics metrics = objective_->Finish(objective_->Mass(all, Columns()));
  report_.epochs.back().validation = metrics;
  progress_.validated = true;
  if (report_.best_epoch == 0 || metrics.loss < best_.loss || !options_.keep_best) {
    KeepBest(metrics.loss);
  } else {
    ++best_.epochs_since;
  }
  return NextEpoch();
}

void Teacher::KeepBest(double loss) {
  report_.best_epoch = progress_.epoch;
  best_.loss = loss;
  best_.epochs_since = 0;
  if (!options_.keep_best) return;
  best_.weights.clear();
  for (const Master& master : trainee_.masters().tensors()) {
    if (master.trained) best_.weights.insert(best_.weights.end(), master.values, master.values + master.size);
  }
  if (pretraining_) pretraining_->Keep(&best_.weights);
}

void Teacher::RestoreBest() {
  const float* from = best_.weights.data();
  for (const Master& master : trainee_.masters().tensors()) {
    if (!master.trained) continue;
    std::copy_n(from, master.size, master.values);
    from += master.size;
  }
  if (pretraining_) pretraining_->Restore(from);
  trainee_.held()->Hold();
}

}  // namespace peruse::train
