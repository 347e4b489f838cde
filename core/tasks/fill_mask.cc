#include "core/tasks/fill_mask.h"

#include <algorithm>
#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"

namespace peruse {

Status FillMask::Read(JsonValue inputs, JsonValue options) {
  texts_.clear();
  if (tokenizer_.mask_id() < 0) return Unsupported("fill-mask needs a mask token, and this model's tokenizer has none");
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view text, ReadText(input, "text"));
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> windows, tokenizer_.Encode(text));
    PERUSE_RETURN_IF_ERROR(CheckText(windows[0], texts_.size(), "shorten it around its masks"));
    Text read;
    for (size_t i = 0; i < windows[0].size(); ++i) {
      if (windows[0].ids[i] == tokenizer_.mask_id()) read.masks.push_back(static_cast<int32_t>(i));
    }
    if (read.masks.empty()) {
      PERUSE_ASSIGN_OR_RETURN(const std::string mask, tokenizer_.IdToToken(tokenizer_.mask_id()));
      return InvalidArgument("input " + std::to_string(texts_.size()) + " has no mask token " + mask);
    }
    Enqueue(std::move(windows[0]));
    texts_.push_back(std::move(read));
  }
  return OkStatus();
}

Status FillMask::ReadOptions(JsonValue options) {
  top_k_ = 5;
  targets_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "top_k", 1, &top_k_));
  std::vector<std::string> targets;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "targets", &targets));
  for (const std::string& target : targets) {
    PERUSE_ASSIGN_OR_RETURN(const int32_t id, TargetId(target));
    if (id >= 0) targets_.push_back(id);
  }
  std::sort(targets_.begin(), targets_.end());
  targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  if (targets_.empty() && options.FindMember("targets").exists()) {
    return InvalidArgument("option targets names no token");
  }
  return OkStatus();
}

Result<int32_t> FillMask::TargetId(const std::string& target) const {
  if (const std::optional<int32_t> id = tokenizer_.TokenToId(target)) return *id;
  EncodeOptions options;
  options.add_special_tokens = false;
  PERUSE_ASSIGN_OR_RETURN(const std::vector<Encoding> windows, tokenizer_.Encode(target, options));
  return windows[0].ids.empty() ? -1 : windows[0].ids[0];
}

Status FillMask::Collect(size_t index, std::span<const float> logits) {
  Text& text = texts_[index];
  const auto vocabulary = static_cast<size_t>(model_.logit_cols());
  for (size_t i = 0; i < text.masks.size(); ++i) {
    std::vector<Proposal> proposals = Proposals(logits.subspan(i * vocabulary, vocabulary));
    for (Proposal& proposal : proposals) {
      proposal.sequence = Sequence(encoding(index), text.masks[i], proposal.token, text.masks.size() == 1);
    }
    text.proposals.push_back(std::move(proposals));
  }
  return OkStatus();
}

std::vector<FillMask::Proposal> FillMask::Proposals(std::span<const float> logits) const {
  std::vector<float> scores(logits.begin(), logits.end());
  Softmax(scores);
  std::vector<Proposal> proposals;
  if (targets_.empty()) {
    for (size_t token : BestFirst(scores, static_cast<size_t>(top_k_))) {
      proposals.push_back({static_cast<int32_t>(token), scores[token], ""});
    }
    return proposals;
  }
  std::vector<float> of_targets;
  for (const int32_t target : targets_) of_targets.push_back(scores[static_cast<size_t>(target)]);
  for (size_t i : BestFirst(of_targets, static_cast<size_t>(top_k_))) {
    proposals.push_back({targets_[i], of_targets[i], ""});
  }
  return proposals;
}

std::string FillMask::Sequence(const Encoding& encoding, int32_t position, int32_t token, bool is_only_mask) const {
  std::vector<int32_t> ids = encoding.ids;
  ids[static_cast<size_t>(position)] = token;
  std::erase(ids, tokenizer_.pad_id());
  return tokenizer_.Decode(ids, is_only_mask);
}

void FillMask::Write(JsonWriter& writer) const {
  writer.BeginArray();
  for (const Text& text : texts_) {
    writer.BeginArray();
    for (const std::vector<Proposal>& proposals : text.proposals) {
      writer.BeginArray();
      for (const Proposal& proposal : proposals) {
        const int32_t ids[] = {proposal.token};
        writer.BeginObject();
        writer.Key("score");
        writer.Double(proposal.score);
        writer.Key("token");
        writer.Int(proposal.token);
        writer.Key("token_str");
        writer.String(tokenizer_.Decode(ids, false));
        writer.Key("sequence");
        writer.String(proposal.sequence);
        writer.EndObject();
      }
      writer.EndArray();
    }
    writer.EndArray();
  }
  writer.EndArray();
}

}  // namespace peruse
