// Predicts tokens for mask tokens (transformers' FillMaskPipeline). Errors: kTextTooLong, because truncation could remove the mask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct FillMaskRequest {
  std::vector<std::string> inputs;  // each contains a mask token as text ("[MASK]") at least once
  int32_t top_k = 5;                // number of proposals per mask, best first
  // Restricts proposals to these tokens, without renormalising probabilities. For a target outside the vocabulary, uses the first of its
  // tokens.
  std::optional<std::vector<std::string>> targets;

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("top_k", 1, &top_k);
    reader.ReadOptional("targets", &targets);
  }
};

struct MaskProposal {
  float score;  // probability
  int32_t token;
  std::string token_str;
  // The text with only this mask filled in. If there are several masks, it includes special tokens, because the other masks are special
  // tokens.
  std::string sequence;
};

class FillMask : public TaskOf<FillMaskRequest, std::vector<std::vector<MaskProposal>>> {
 public:
  static constexpr Head kHead = Head::kMaskedLm;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  Status FindTargets();
  // Returns the id of a target; -1 if it normalises to an empty text.
  Result<int32_t> TargetId(const std::string& target) const;
  std::vector<MaskProposal> Proposals(const Reading& reading, int32_t position, std::span<const float> logits) const;

  std::vector<int32_t> targets_;  // ascending; empty means the whole vocabulary
};

}  // namespace peruse
