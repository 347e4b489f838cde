// A model whose logits the test writes down: what a task makes of them is then exact.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/models/model.h"

namespace peruse {

class FakeModel : public Model {
 public:
  // `logits_of` gives a text's logits: [labels], or [tokens, 2] when `per_token`.
  using LogitsOf = std::function<std::vector<float>(const ModelInput&)>;

  FakeModel(ModelConfig config, bool per_token, LogitsOf logits_of)
      : config_(std::move(config)), per_token_(per_token), logits_of_(std::move(logits_of)) {}

  Result<std::vector<std::string>> SetShardIndex(std::string_view) override { return Unsupported("fake"); }
  Status EndShard() override { return OkStatus(); }
  Status FeedWeights(std::span<const uint8_t>) override { return OkStatus(); }
  Status FinishWeights() override { return OkStatus(); }
  const ModelConfig& config() const override { return config_; }
  Head head() const override { return per_token_ ? Head::kTokenClassification : Head::kSequenceClassification; }
  const LoadReport& load_report() const override { return report_; }

  Status Begin(std::span<const ModelInput> inputs, const RunOptions& options) override {
    ++runs;
    logit_rows_asked.assign(options.logit_rows.begin(), options.logit_rows.end());
    batch_ = RaggedBatch();
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
  std::span<const float> logits() const override { return logits_; }
  int32_t logit_rows() const override {
    if (!logit_rows_asked.empty()) return static_cast<int32_t>(logit_rows_asked.size());
    return per_token_ ? batch_.rows() : batch_.sequences();
  }
  int32_t logit_cols() const override { return static_cast<int32_t>(logits_.size()) / logit_rows(); }
  std::span<const float> last_hidden() const override { return {}; }
  int32_t hidden_state_count() const override { return 0; }
  std::span<const float> hidden_state(int32_t) const override { return {}; }
  int32_t attention_count() const override { return 0; }
  int32_t attention_heads() const override { return 0; }
  std::span<const float> attention(int32_t) const override { return {}; }
  int32_t span_kernel_count() const override { return 0; }
  std::span<const float> span_kernel(int32_t) const override { return {}; }

  int runs = 0;
  std::vector<int32_t> logit_rows_asked;  // by the last run
  Status next_status;                     // what Begin answers

 private:
  ModelConfig config_;
  bool per_token_;
  LogitsOf logits_of_;
  LoadReport report_;
  RaggedBatch batch_;
  std::vector<float> logits_;
};

}  // namespace peruse
