// Fill-mask: what could stand where a text has the mask token (transformers' FillMaskPipeline; spec: pipelines.md section 5).
//
// Input:   {"text": string} with at least one mask token, written as the tokenizer writes it ("[MASK]")
// Options: top_k (5)   proposals per mask, best first
//          targets     only these tokens; each is looked up in the vocabulary, else it is tokenised and its first token counts.
//                      Their probabilities are not made to sum to 1.
// Result:  for each mask a list of {"score": probability, "token": id, "token_str": string, "sequence": the text with this
//          mask filled in}. Masks are filled independently of each other. A text with one mask comes without special tokens;
//          with several they stay, as the other masks are among them.
//
// A text that is too long is refused: cutting it could lose the mask.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class FillMask : public Task {
 public:
  FillMask(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  std::span<const int32_t> RowsOf(size_t index) const override { return texts_[index].masks; }
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  struct Proposal {
    int32_t token;
    float score;
    std::string sequence;
  };
  struct Text {
    std::vector<int32_t> masks;                    // positions of the mask token
    std::vector<std::vector<Proposal>> proposals;  // by mask
  };

  Status ReadOptions(JsonValue options);
  // The id that a target stands for; -1 when nothing is left of it.
  Result<int32_t> TargetId(const std::string& target) const;
  // The best tokens by `logits`, which are of one row.
  std::vector<Proposal> Proposals(std::span<const float> logits) const;
  // The text with `token` at `position`.
  std::string Sequence(const Encoding& encoding, int32_t position, int32_t token, bool is_only_mask) const;

  int32_t top_k_ = 5;
  std::vector<int32_t> targets_;  // empty: the whole vocabulary
  std::vector<Text> texts_;
};

}  // namespace peruse
