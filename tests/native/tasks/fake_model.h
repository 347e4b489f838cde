#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/model/runner.h"

namespace peruse {

class FakeModel : public Runner {
 public:
  // Returns a text's logits: [labels], or [tokens, 2] if `per_token`.
  using LogitsOf = std::function<std::vector<float>(const ModelInput&)>;

  FakeModel(ModelConfig config, bool per_token, LogitsOf logits_of)
      : config_(std::move(config)),
        head_(per_token ? Head::kTokenClassification : Head::kSequenceClassification),
        logits_of_(std::move(logits_of)) {}

  const ModelConfig& config() const override { return config_; }
  Head head() const override { return head_; }

  Status Begin(std::span<const ModelInput> inputs, const RunOptions& options) override {
    ++runs;
    outputs_asked.assign(options.outputs.begin(), options.outputs.end());
    logit_rows_asked.assign(options.logit_rows.begin(), options.logit_rows.end());
    batch_.Clear();
    logits_.clear();
    for (const ModelInput& input : inputs) {
      batch_.Append(static_cast<int32_t>(input.ids.size()));
      const std::vector<float> logits = logits_of_(input);
      logits_.insert(logits_.end(), logits.begin(), logits.end());
    }
    return next_status;
  }
  Status Finish() override { return OkStatus(); }

  const RaggedBatch& batch() const override { return batch_; }
  // Returns the logits as every output.
  ModelOutput output(OutputId) const override {
    const Domain domain = head_ == Head::kSequenceClassification ? Domain::kSequences : Domain::kChosen;
    size_t rows = static_cast<size_t>(domain == Domain::kSequences ? batch_.sequences() : batch_.rows());
    if (!logit_rows_asked.empty()) rows = logit_rows_asked.size();
    return {logits_, {domain, 1}, static_cast<int32_t>(logits_.size() / rows)};
  }
  std::vector<OutputId> Outputs() const override { return {kLogits}; }
  int32_t attention_heads() const override { return 0; }
  int32_t span_kernel_heads() const override { return 0; }

  int runs = 0;
  std::vector<OutputId> outputs_asked;  // outputs that the last run requested
  std::vector<int32_t> logit_rows_asked;
  Status next_status;

 private:
  ModelConfig config_;
  Head head_;
  LogitsOf logits_of_;
  RaggedBatch batch_;
  std::vector<float> logits_;
};

}  // namespace peruse
