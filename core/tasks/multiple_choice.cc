#include "core/tasks/multiple_choice.h"

#include <utility>

#include "core/tasks/scores.h"

namespace peruse {

Status MultipleChoice::Start() {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const auto& [prompt, choices] = request.inputs[i];
    if (choices.empty()) return InvalidArgument("an input has no choices");
    std::vector<text::Encoding> pairs;
    for (const std::string& choice : choices) {
      PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens,
                              Checked(tokenizer_.EncodePair(prompt, choice), i, "shorten the prompt"));
      pairs.push_back(std::move(tokens));
    }
    EnqueueAll(i, std::move(pairs));
  }
  return OkStatus();
}

Status MultipleChoice::Collect(const Reading& reading, size_t text) {
  logits_.push_back(outputs_.Get(kLogits, text).values[0]);
  if (!reading.last) return OkStatus();
  std::vector<float> scores = std::exchange(logits_, {});
  Softmax(scores);
  std::vector<ChoiceScore> choices;
  for (size_t choice : BestFirst(scores)) choices.push_back({choice, scores[choice]});
  Give(reading.input, std::move(choices));
  return OkStatus();
}

}  // namespace peruse
