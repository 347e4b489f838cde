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

ZeroShotScores BestLabels(const std::vector<std::string>& labels, std::vector<float> scores) {
  // If scores are equal, the later label comes first, as in transformers, which sorts ascending and reverses.
  std::reverse(scores.begin(), scores.end());
  ZeroShotScores result;
  for (const size_t i : BestFirst(scores)) {
    result.labels.push_back(labels[scores.size() - 1 - i]);
    result.scores.push_back(scores[i]);
  }
  return result;
}

Status ZeroShotClassification::Start() {
  PERUSE_RETURN_IF_ERROR(CheckRequest());
  PERUSE_ASSIGN_OR_RETURN(const int32_t entailment, EntailmentOf(model_.config()));
  entailment_ = static_cast<size_t>(entailment);
  PERUSE_ASSIGN_OR_RETURN(const std::vector<std::string> hypotheses, Hypotheses());
  const text::EncodeOptions options = CutTo(MaxTokens(), text::Truncation::kOnlyFirst);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> pairs,
                            tokenizer_.EncodeWithEach(request.inputs[i], hypotheses, options));
    EnqueueAll(i, std::move(pairs));
  }
  return OkStatus();
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

Result<int32_t> EntailmentOf(const ModelConfig& config) {
  const bool several = config.num_labels() > 1;
  for (const auto& [name, id] : config.label2id) {
    if (several && BeginsWithEntail(name)) return id;
  }
  std::string names;
  for (size_t label = 0; label < config.id2label.size(); ++label) {
    const std::string& name = config.id2label[label];
    if (several && BeginsWithEntail(name)) return static_cast<int32_t>(label);
    if (names.size() < 100) names += (names.empty() ? "" : ", ") + name;
  }
  return Unsupported(
      "zero-shot-classification needs a model of natural-language inference, with an entailment and a contradiction "
      "label; this one has " +
      names + (several ? ". If it is one, name its labels with the load option id2label" : ""));
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
  const std::span<const float> logits = outputs_.Get(kLogits, text).values;
  logits_.insert(logits_.end(), logits.begin(), logits.end());
  if (!reading.last) return OkStatus();
  Give(reading.input, BestLabels(request.candidate_labels, Scores()));
  logits_.clear();
  return OkStatus();
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
