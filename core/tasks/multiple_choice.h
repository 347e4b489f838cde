// Multiple choice: which of several continuations fits a prompt (transformers' *ForMultipleChoice; spec: pipelines.md
// section 7).
//
// Input:   {"prompt": string, "choices": [string, ...]}
// Options: none
// Result:  [{"choice": index, "score": probability}, ...], best first
//
// Each choice is read by itself, without padding. The reference pads the choices of a prompt to one length, which
// changes ConvBERT's scores (it summarises the last padded position); Peruse gives what the reference gives for choices
// of equal length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class MultipleChoice : public Task {
 public:
  MultipleChoice(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  std::vector<size_t> choices_;  // per input, how many
  std::vector<float> logits_;    // of all choices of all inputs, in order
};

}  // namespace peruse
