// Fill-mask: what could stand where a text has the mask token (transformers' FillMaskPipeline). A text that is too long
// is refused: cutting it could lose the mask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct FillMaskRequest {
  std::vector<std::string> inputs;  // each with at least one mask token, as the tokenizer writes it ("[MASK]")
  int32_t top_k = 5;                // proposals for a mask, best first
  // Only these tokens. Each is looked up in the vocabulary, else it is tokenised and its first token counts. Their
  // probabilities are not made to sum to 1.
  std::optional<std::vector<std::string>> targets;
};

struct MaskProposal {
  float score;  // probability
  int32_t token;
  std::string token_str;
  // The text with this mask filled in, the masks independently of each other. With one mask special tokens are left out;
  // with several they stay, as the other masks are among them.
  std::string sequence;
};

// For each input, by mask.
class FillMask : public TaskOf<FillMaskRequest, std::vector<std::vector<MaskProposal>>> {
 public:
  static constexpr Head kHead = Head::kMaskedLm;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  Status FindTargets();
  // The id that a target stands for; -1 when nothing is left of it.
  Result<int32_t> TargetId(const std::string& target) const;
  // The best tokens of the mask at `position`, by their logits.
  std::vector<MaskProposal> Proposals(const Reading& reading, int32_t position, std::span<const float> logits) const;

  std::vector<int32_t> targets_;  // ascending; empty: the whole vocabulary
};

}  // namespace peruse
