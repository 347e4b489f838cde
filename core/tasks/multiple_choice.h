// Multiple choice: which of several continuations fits a prompt (transformers' *ForMultipleChoice).
//
// Each choice is read by itself, without padding. The reference pads the choices of a prompt to one length, which
// changes ConvBERT's scores (it summarises the last padded position); Peruse gives what the reference gives for choices
// of equal length.
#pragma once

#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct ChoiceInput {
  std::string prompt;
  std::vector<std::string> choices;
};

struct MultipleChoiceRequest {
  std::vector<ChoiceInput> inputs;
};

struct ChoiceScore {
  size_t choice;
  float score;  // probability among the choices
};

// For each input all choices, best first.
class MultipleChoice : public TaskOf<MultipleChoiceRequest, std::vector<ChoiceScore>> {
 public:
  static constexpr Head kHead = Head::kMultipleChoice;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  std::vector<float> logits_;  // of the choices so far of the input that is being read
};

}  // namespace peruse
