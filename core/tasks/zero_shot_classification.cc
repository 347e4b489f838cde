#include "core/tasks/zero_shot_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/options.h"
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

Status ZeroShotClassification::Read(JsonValue inputs, JsonValue options) {
  texts_.clear();
  logits_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view text, ReadText(input, "text"));
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> encodings, EncodeWithHypotheses(text));
    for (Encoding& encoding : encodings) Enqueue(std::move(encoding));
    texts_.emplace_back(text);
  }
  return OkStatus();
}

Status ZeroShotClassification::ReadOptions(JsonValue options) {
  if (model_.config().num_labels() < 2) {
    return Unsupported(
        "zero-shot-classification needs a model of natural-language inference, with an entailment and a "
        "contradiction label; this one has a single label");
  }
  candidates_.clear();
  template_ = "This example is {}.";
  multi_label_ = false;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "candidate_labels", &candidates_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "hypothesis_template", &template_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "multi_label", &multi_label_));
  if (candidates_.empty()) return InvalidArgument("option candidate_labels must name at least one label");
  if (template_.find(kPlaceholder) == std::string::npos) {
    return InvalidArgument("option hypothesis_template has no {} for the label to go to: \"" + template_ + "\"");
  }
  return OkStatus();
}

Result<std::vector<Encoding>> ZeroShotClassification::EncodeWithHypotheses(std::string_view text) const {
  EncodeOptions whole;
  whole.add_special_tokens = false;
  const size_t room = static_cast<size_t>(MaxTokens() - tokenizer_.special_tokens_count(true));
  std::vector<std::string> hypotheses;
  for (const std::string& label : candidates_) {
    std::string hypothesis = template_;
    hypothesis.replace(hypothesis.find(kPlaceholder), kPlaceholder.size(), label);
    PERUSE_ASSIGN_OR_RETURN(const std::vector<Encoding> alone, tokenizer_.Encode(hypothesis, whole));
    if (alone[0].size() >= room) {
      return Status(StatusCode::kTextTooLong, "the hypothesis for the label \"" + label.substr(0, 100) +
                                                  "\" leaves no room for the text: the model takes " +
                                                  std::to_string(MaxTokens()) + " tokens");
    }
    hypotheses.push_back(std::move(hypothesis));
  }
  EncodeOptions options;
  if (MaxTokens() != ModelConfig::kUnlimited) {
    options.truncation = Truncation::kOnlyFirst;
    options.max_length = MaxTokens();
  }
  PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> encodings, tokenizer_.EncodeWithEach(text, hypotheses, options));
  const std::vector<int8_t>& sequences = encodings[0].sequence_ids;
  if (std::find(sequences.begin(), sequences.end(), 0) == sequences.end()) {
    return Status(StatusCode::kEmptyText,
                  "input " + std::to_string(texts_.size()) + " has no text: it is empty or only white space");
  }
  return encodings;
}

Status ZeroShotClassification::Collect(size_t, std::span<const float> logits) {
  logits_.insert(logits_.end(), logits.begin(), logits.end());
  return OkStatus();
}

size_t ZeroShotClassification::EntailmentColumn() const {
  const std::vector<std::string>& labels = model_.config().id2label;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (BeginsWithEntail(labels[i])) return i;
  }
  return labels.size() - 1;
}

std::vector<float> ZeroShotClassification::Scores(std::span<const float> logits) const {
  const size_t labels = model_.config().id2label.size();
  const size_t entailment = EntailmentColumn();
  const size_t contradiction = entailment == 0 ? labels - 1 : 0;
  std::vector<float> scores(candidates_.size());
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = logits[i * labels + entailment];
  if (!multi_label_ && scores.size() > 1) {
    Softmax(scores);
    return scores;
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    float pair[2] = {logits[i * labels + contradiction], scores[i]};
    Softmax(pair);
    scores[i] = pair[1];
  }
  return scores;
}

void ZeroShotClassification::Write(JsonWriter& writer) const {
  const size_t per_text = candidates_.size() * model_.config().id2label.size();
  writer.BeginArray();
  for (size_t text = 0; text < texts_.size(); ++text) {
    const std::vector<float> scores = Scores(std::span(logits_).subspan(text * per_text, per_text));
    std::vector<size_t> order(scores.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    // Of equal scores the later label first, as in the reference, which sorts ascending and reverses.
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a > b; });
    writer.BeginObject();
    writer.Key("sequence");
    writer.String(texts_[text]);
    writer.Key("labels");
    writer.BeginArray();
    for (size_t i : order) writer.String(candidates_[i]);
    writer.EndArray();
    writer.Key("scores");
    writer.BeginArray();
    for (size_t i : order) writer.Double(scores[i]);
    writer.EndArray();
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace peruse
