#include "core/tasks/label_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/scores.h"

namespace peruse {

Status LabelClassification::Start() {
  if (request.candidate_labels.empty()) {
    return InvalidArgument("option candidate_labels must name at least one label");
  }
  const LabelPrompt& config = model_.config().prompt;
  std::string prompt;
  if (config.in_text) {
    for (const std::string& label : request.candidate_labels)
      prompt += config.marker + (config.only_places ? "" : label);
    prompt += config.separator;
  }
  if (reader_.needed()) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> readings, reader_.Start(request.candidate_labels));
    for (Reading& reading : readings) Enqueue(std::move(reading));
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(Reading reading, Read(i, prompt));
    Enqueue(std::move(reading));
  }
  return OkStatus();
}

// <<LABEL>>travel<<LABEL>>food<<SEP>>The train was late, in this order or with the text first; of a bi-encoder without the
// labels, or with their places only.
Result<Reading> LabelClassification::Read(size_t input, const std::string& prompt) const {
  constexpr int32_t kMostTokens = 1024;  // the package's max_length, which goes before the tokenizer's model_max_length
  const LabelPrompt& config = model_.config().prompt;
  const std::string& text = request.inputs[input];
  const text::EncodeOptions options =
      CutTo(std::min(model_.config().max_tokens, kMostTokens), text::Truncation::kOnlyFirst);
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows,
                          tokenizer_.Encode(config.labels_first ? prompt + text : text + prompt, options));
  Reading reading = {.input = input, .tokens = std::move(windows[0])};
  const size_t labels = request.candidate_labels.size();
  if (config.in_text) {
    FindRows(reading);
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
  for (size_t label = 0; label < labels; ++label) {
    reading.head.pair_first.push_back(0);
    reading.head.pair_second.push_back(static_cast<int32_t>(label));
  }
  return reading;
}

void LabelClassification::FindRows(Reading& reading) const {
  const LabelPrompt& config = model_.config().prompt;
  const std::vector<int32_t>& ids = reading.tokens.ids;
  HeadLists& head = reading.head;
  const auto tokens = static_cast<int32_t>(ids.size());
  const int32_t behind = config.embed_marker ? 0 : 1;
  const auto found = std::find(ids.begin(), ids.end(), config.separator_id);
  const auto separator = static_cast<int32_t>(found - ids.begin());
  if (separator == tokens) return;
  head.second_segment = separator;
  for (int32_t row = 0; row < tokens; ++row) {
    if (ids[static_cast<size_t>(row)] != config.marker_id) continue;
    // The last label of a text whose vector is all of it ends with the text.
    if (config.label_tokens && !head.labels.empty()) head.label_tokens.push_back(row - head.labels.back());
    head.labels.push_back(row + behind);
  }
  if (config.label_tokens && !head.labels.empty()) {
    head.label_tokens.push_back((config.from_separator ? separator : tokens) - head.labels.back());
  }
  for (int32_t& count : head.label_tokens) count = std::max(count, 0);
  const int32_t first = config.from_separator ? separator : 0;
  head.words = {first};
  head.word_tokens = {1};
  if (!config.whole_text) return;
  for (int32_t row = first + 1; row < tokens; ++row) head.words.push_back(row);
  head.word_tokens.assign(head.words.size(), 1);
  if (!config.fill_text) return;
  head.words.resize(ids.size(), first);
  head.word_tokens.resize(ids.size(), 0);
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
