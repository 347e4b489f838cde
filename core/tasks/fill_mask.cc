#include "core/tasks/fill_mask.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/sort.h"
#include "core/tasks/scores.h"

namespace peruse {

Status FillMask::Start() {
  const int32_t mask = tokenizer_.mask_id();
  if (mask < 0) return Unsupported("fill-mask needs a mask token, and this model's tokenizer has none");
  PERUSE_RETURN_IF_ERROR(FindTargets());
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens,
                            Checked(tokenizer_.Encode(request.inputs[i]), i, "shorten it around its masks"));
    std::vector<int32_t> masks;
    for (size_t t = 0; t < tokens.size(); ++t) {
      if (tokens.ids[t] == mask) masks.push_back(static_cast<int32_t>(t));
    }
    if (masks.empty()) {
      PERUSE_ASSIGN_OR_RETURN(const std::string name, tokenizer_.IdToToken(mask));
      return InvalidArgument("input " + std::to_string(i) + " has no mask token " + name);
    }
    Enqueue(i, std::move(tokens), std::move(masks));
  }
  return OkStatus();
}

Status FillMask::FindTargets() {
  if (!request.targets) return OkStatus();
  for (const std::string& target : *request.targets) {
    PERUSE_ASSIGN_OR_RETURN(const int32_t id, TargetId(target));
    if (id >= 0) targets_.push_back(id);
  }
  HeapSort(targets_.begin(), targets_.end(), std::less());
  targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  return targets_.empty() ? InvalidArgument("option targets names no token") : OkStatus();
}

Result<int32_t> FillMask::TargetId(const std::string& target) const {
  if (const std::optional<int32_t> id = tokenizer_.TokenToId(target)) return *id;
  text::EncodeOptions options;
  options.add_special_tokens = false;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> windows, tokenizer_.Encode(target, options));
  return windows[0].ids.empty() ? -1 : windows[0].ids[0];
}

Status FillMask::Collect(const Reading& reading, size_t text) {
  const Matrix logits = outputs_.Get(kLogits, text);
  std::vector<std::vector<MaskProposal>> masks;
  for (size_t i = 0; i < reading.rows.size(); ++i) {
    masks.push_back(Proposals(reading, reading.rows[i], logits.row(i)));
  }
  Give(reading.input, std::move(masks));
  return OkStatus();
}

std::vector<MaskProposal> FillMask::Proposals(const Reading& reading, int32_t position,
                                              std::span<const float> logits) const {
  std::vector<float> scores(logits.begin(), logits.end());
  Softmax(scores);
  if (!targets_.empty()) {
    std::vector<float> chosen;
    for (const int32_t target : targets_) chosen.push_back(scores[static_cast<size_t>(target)]);
    scores = std::move(chosen);
  }
  std::vector<MaskProposal> proposals;
  for (size_t i : BestFirst(scores, static_cast<size_t>(request.top_k))) {
    const int32_t token = targets_.empty() ? static_cast<int32_t>(i) : targets_[i];
    std::vector<int32_t> ids = reading.tokens.ids;
    ids[static_cast<size_t>(position)] = token;
    std::erase(ids, tokenizer_.pad_id());
    const bool only_mask = reading.rows.size() == 1;
    proposals.push_back({scores[i], token, tokenizer_.Decode({&token, 1}, false), tokenizer_.Decode(ids, only_mask)});
  }
  return proposals;
}

}  // namespace peruse
