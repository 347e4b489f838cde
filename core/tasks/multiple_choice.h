// Scores continuations of a prompt (transformers' *ForMultipleChoice). Encodes each choice separately, without padding. transformers pads
// the choices of a prompt to one length, which changes ConvBERT's scores, because it summarises the last padded position; scores are equal
// for choices of equal length.
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
  float score;  // probability among all choices
};

class MultipleChoice : public TaskOf<MultipleChoiceRequest, std::vector<ChoiceScore>> {
 public:
  static constexpr Head kHead = Head::kMultipleChoice;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  std::vector<float> logits_;  // logits of the current input's choices so far
};

}  // namespace peruse
