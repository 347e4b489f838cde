#include "core/tasks/multiple_choice.h"

#include <string>
#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"

namespace peruse {

Status MultipleChoice::Read(JsonValue inputs, JsonValue) {
  choices_.clear();
  logits_.clear();
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view prompt, ReadText(input, "prompt"));
    std::vector<std::string> choices;
    PERUSE_RETURN_IF_ERROR(ReadOption(input, "choices", &choices));
    if (choices.empty()) return InvalidArgument("an input has no choices");
    for (const std::string& choice : choices) {
      PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> windows, tokenizer_.EncodePair(prompt, choice));
      PERUSE_RETURN_IF_ERROR(CheckText(windows[0], choices_.size(), "shorten the prompt"));
      Enqueue(std::move(windows[0]));
    }
    choices_.push_back(choices.size());
  }
  return OkStatus();
}

Status MultipleChoice::Collect(size_t, std::span<const float> logits) {
  logits_.push_back(logits[0]);
  return OkStatus();
}

void MultipleChoice::Write(JsonWriter& writer) const {
  writer.BeginArray();
  size_t first = 0;
  for (size_t count : choices_) {
    std::vector<float> scores(logits_.begin() + static_cast<ptrdiff_t>(first),
                              logits_.begin() + static_cast<ptrdiff_t>(first + count));
    Softmax(scores);
    writer.BeginArray();
    for (size_t i : BestFirst(scores)) {
      writer.BeginObject();
      writer.Key("choice");
      writer.Int(static_cast<int64_t>(i));
      writer.Key("score");
      writer.Double(scores[i]);
      writer.EndObject();
    }
    writer.EndArray();
    first += count;
  }
  writer.EndArray();
}

}  // namespace peruse
