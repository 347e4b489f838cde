#include "core/tasks/label_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/label_rows.h"
#include "core/tasks/scores.h"

namespace peruse {

Status LabelClassification::Start() {
  if (request.candidate_labels.empty()) {
    return InvalidArgument("option candidate_labels must name at least one label");
  }
  if (reader_.needed()) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> readings, reader_.Start(request.candidate_labels));
    for (Reading& reading : readings) Enqueue(std::move(reading));
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(Reading reading, Read(i));
    Enqueue(std::move(reading));
  }
  return OkStatus();
}

Result<Reading> LabelClassification::Read(size_t input) const {
  constexpr int32_t kMostTokens = 1024;  // gliclass's max_length, which overrides the tokenizer's model_max_length
  const LabelPrompt& config = model_.config().prompt;
  const std::string& text = request.inputs[input];
  const text::EncodeOptions options =
      CutTo(std::min(model_.config().max_tokens, kMostTokens), text::Truncation::kOnlyFirst);
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows,
                          tokenizer_.Encode(WithLabels(config, request.candidate_labels, text), options));
  Reading reading = {.input = input, .tokens = std::move(windows[0])};
  const size_t labels = request.candidate_labels.size();
  if (config.in_text) {
    reading.head = LabelRows(config, reading.tokens.ids);
  } else {
    reading.head.labels.resize(labels);
    reading.head.words = {0};
  }
  if (windows.size() > 1 && (reading.head.labels.size() < labels || reading.head.words.empty())) {
    return Status(StatusCode::kTextTooLong, "input " + std::to_string(input) + " and its labels have more than the " +
                                                std::to_string(options.max_length) + " tokens that are read at once");
  }
  if (reading.head.labels.size() != labels || reading.head.words.empty()) {
    return InvalidArgument("a label or input " + std::to_string(input) + " contains a marker of the model");
  }
  if (reader_.needed()) reading.head.label_vectors = reader_.vectors(0, labels);
  PairTextWithLabels(labels, &reading.head);
  return reading;
}

Status LabelClassification::Collect(const Reading& reading, size_t text) {
  if (reading.label >= 0) {
    reader_.Collect(reading, outputs_.Get(kLabelVectors, text).values);
    return OkStatus();
  }
  const std::span<const float> logits = outputs_.Get(kLogits, text).values;
  std::vector<float> scores(logits.begin(), logits.end());
  if (request.multi_label) {
    Sigmoid(scores);
  } else {
    Softmax(scores);
  }
  Give(reading.input, BestLabels(request.candidate_labels, std::move(scores)));
  return OkStatus();
}

}  // namespace peruse
