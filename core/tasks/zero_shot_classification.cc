#include "core/tasks/zero_shot_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/scores.h"

namespace peruse {
namespace {

constexpr std::string_view kPlaceholder = "{}";

bool BeginsWithEntail(std::string_view label) {
  constexpr std::string_view kEntail = "entail";
  if (label.size() < kEntail.size()) return false;
  return std::equal(kEntail.begin(), kEntail.end(), label.begin(),
                    [](char a, char b) { return a == b || (b >= 'A' && b <= 'Z' && a == b - 'A' + 'a'); });
}

}  // namespace

Status ZeroShotClassification::Start() {
  if (!model_.config().prompt.marker.empty()) return StartAtOnce();
  PERUSE_RETURN_IF_ERROR(CheckRequest());
  PERUSE_RETURN_IF_ERROR(FindEntailment());
  PERUSE_ASSIGN_OR_RETURN(const std::vector<std::string> hypotheses, Hypotheses());
  const text::EncodeOptions options = CutTo(MaxTokens(), text::Truncation::kOnlyFirst);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> pairs,
                            tokenizer_.EncodeWithEach(request.inputs[i], hypotheses, options));
    if (pairs[0].is_blank[0]) {
      return Status(StatusCode::kEmptyText,
                    "input " + std::to_string(i) + " has no text: it is empty or only white space");
    }
    EnqueueAll(i, std::move(pairs));
  }
  return OkStatus();
}

Status ZeroShotClassification::StartAtOnce() {
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
    PERUSE_ASSIGN_OR_RETURN(Reading reading, ReadAtOnce(i, prompt));
    Enqueue(std::move(reading));
  }
  return OkStatus();
}

// <<LABEL>>travel<<LABEL>>food<<SEP>>The train was late, in this order or with the text first; of a bi-encoder without the
// labels, or with their places only.
Result<Reading> ZeroShotClassification::ReadAtOnce(size_t input, const std::string& prompt) const {
  constexpr int32_t kMostTokens = 1024;  // the package's max_length
  const LabelPrompt& config = model_.config().prompt;
  const std::string& text = request.inputs[input];
  const text::EncodeOptions options = CutTo(std::min(MaxTokens(), kMostTokens), text::Truncation::kOnlyFirst);
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

void ZeroShotClassification::FindRows(Reading& reading) const {
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

Status ZeroShotClassification::CheckRequest() const {
  if (request.candidate_labels.empty()) {
    return InvalidArgument("option candidate_labels must name at least one label");
  }
  if (request.hypothesis_template.find(kPlaceholder) == std::string::npos) {
    return InvalidArgument("option hypothesis_template has no {} for the label to go to: \"" +
                           request.hypothesis_template + "\"");
  }
  return OkStatus();
}

Status ZeroShotClassification::FindEntailment() {
  const ModelConfig& config = model_.config();
  const bool several = config.num_labels() > 1;
  for (const auto& [name, id] : config.label2id) {
    entailment_ = static_cast<size_t>(id);
    if (several && BeginsWithEntail(name)) return OkStatus();
  }
  std::string names;
  for (entailment_ = 0; entailment_ < config.id2label.size(); ++entailment_) {
    const std::string& name = config.id2label[entailment_];
    if (several && BeginsWithEntail(name)) return OkStatus();
    if (names.size() < 100) names += (names.empty() ? "" : ", ") + name;
  }
  return Unsupported(
      "zero-shot-classification needs a model of natural-language inference, with an entailment and a contradiction "
      "label; this one has " +
      names);
}

Result<std::vector<std::string>> ZeroShotClassification::Hypotheses() const {
  text::EncodeOptions whole;
  whole.add_special_tokens = false;
  const size_t room = static_cast<size_t>(MaxTokens() - tokenizer_.special_tokens_count(true));
  std::vector<std::string> hypotheses;
  for (const std::string& label : request.candidate_labels) {
    std::string hypothesis = request.hypothesis_template;
    hypothesis.replace(hypothesis.find(kPlaceholder), kPlaceholder.size(), label);
    PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> alone, tokenizer_.Encode(hypothesis, whole));
    if (alone[0].size() >= room) {
      return Status(StatusCode::kTextTooLong, "the hypothesis for the label \"" + label.substr(0, 100) +
                                                  "\" leaves no room for the text: the model takes " +
                                                  std::to_string(MaxTokens()) + " tokens");
    }
    hypotheses.push_back(std::move(hypothesis));
  }
  return hypotheses;
}

Status ZeroShotClassification::Collect(const Reading& reading, size_t text) {
  if (reading.label >= 0) {
    reader_.Collect(reading, outputs_.Get(kLabelVectors, text).values);
    return OkStatus();
  }
  const std::span<const float> logits = outputs_.Get("logits", text).values;
  if (!model_.config().prompt.marker.empty()) {
    std::vector<float> scores(logits.begin(), logits.end());
    if (request.multi_label) {
      Sigmoid(scores);
    } else {
      Softmax(scores);
    }
    GiveScores(reading.input, std::move(scores));
    return OkStatus();
  }
  logits_.insert(logits_.end(), logits.begin(), logits.end());
  if (!reading.last) return OkStatus();
  GiveScores(reading.input, Scores());
  logits_.clear();
  return OkStatus();
}

void ZeroShotClassification::GiveScores(size_t input, std::vector<float> scores) {
  // Of equal scores the later label first, as in the reference, which sorts ascending and reverses.
  std::reverse(scores.begin(), scores.end());
  ZeroShotScores result;
  for (size_t i : BestFirst(scores)) {
    result.labels.push_back(request.candidate_labels[scores.size() - 1 - i]);
    result.scores.push_back(scores[i]);
  }
  Give(input, std::move(result));
}

std::vector<float> ZeroShotClassification::Scores() const {
  const size_t labels = model_.config().id2label.size();
  const size_t contradiction = entailment_ == 0 ? labels - 1 : 0;
  std::vector<float> scores(request.candidate_labels.size());
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = logits_[i * labels + entailment_];
  if (!request.multi_label && scores.size() > 1) {
    Softmax(scores);
    return scores;
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    float pair[2] = {logits_[i * labels + contradiction], scores[i]};
    Softmax(pair);
    scores[i] = pair[1];
  }
  return scores;
}

}  // namespace peruse
