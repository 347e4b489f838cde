#include "core/tasks/text_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/sentence_embedder.h"

namespace peruse {
namespace {

constexpr std::string_view kLongTextAdvice =
    "pass truncation: true to read only its beginning, or stride to read it in windows";

text::Offset Covered(const text::Encoding& tokens) {
  text::Offset covered = {INT32_MAX, 0};
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens.special_tokens_mask[t]) continue;
    covered = {std::min(covered.start, tokens.offsets[t].start), std::max(covered.end, tokens.offsets[t].end)};
  }
  return covered.start <= covered.end ? covered : text::Offset();
}

}  // namespace

Status TextClassification::Start() {
  PERUSE_RETURN_IF_ERROR(CheckWindows());
  PERUSE_ASSIGN_OR_RETURN(const int32_t max_length,
                          Length(request.max_length, Limited(request.stride ? UsualTokens() : MaxTokens())));
  if (sentence_ != nullptr) output_ = {OutputKind::kHidden, model_.config().num_hidden_layers};
  text::EncodeOptions options;
  if (request.truncation) options = CutTo(max_length, text::Truncation::kLongestFirst);
  if (request.stride) {
    options = CutTo(max_length, text::Truncation::kOnlyFirst);
    options.stride = *request.stride;
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, Encode(request.inputs[i], options));
    PERUSE_RETURN_IF_ERROR(CheckTokens(windows[0], i, kLongTextAdvice));
    if (!request.stride) windows.resize(1);
    EnqueueAll(i, std::move(windows));
  }
  return OkStatus();
}

ScoreFunction TextClassification::DefaultFunction() const {
  const ModelConfig& config = model_.config();
  if (config.problem_type == ProblemType::kRegression) return ScoreFunction::kNone;
  if (config.problem_type == ProblemType::kMultiLabel || config.num_labels() == 1) return ScoreFunction::kSigmoid;
  return ScoreFunction::kSoftmax;
}

int32_t TextClassification::Limited(int32_t tokens) const {
  return sentence_ == nullptr ? tokens : std::min(tokens, sentence_->modules().max_seq_length.value_or(tokens));
}

Status TextClassification::CheckWindows() const {
  const std::vector<std::string>& labels = model_.config().id2label;
  if (!(request.temperature > 0)) return InvalidArgument("option temperature must be above 0");
  if (!request.window_label.empty() && std::count(labels.begin(), labels.end(), request.window_label) == 0) {
    return InvalidArgument("option window_label is \"" + request.window_label + "\", which is no label of the model");
  }
  if (!request.stride) return OkStatus();
  if (request.truncation) return InvalidArgument("options truncation and stride exclude each other");
  for (const TextInput& input : request.inputs) {
    if (input.pair) return InvalidArgument("option stride is for single texts: pairs are not read in windows");
  }
  return OkStatus();
}

Status TextClassification::Collect(const Reading& reading, size_t text) {
  const std::span<const float> values = outputs_.Get(output_, text).values;
  std::vector<float>& scores = scores_.emplace_back(
      sentence_ == nullptr ? std::vector<float>(values.begin(), values.end()) : sentence_->Embed(values, /*skip=*/0));
  for (float& score : scores) score /= request.temperature;
  Apply(request.function.value_or(DefaultFunction()), scores);
  spans_.push_back(Covered(reading.tokens));
  if (!reading.last) return OkStatus();
  PERUSE_ASSIGN_OR_RETURN(std::vector<LabelScore> found, Together(request.inputs[reading.input].text));
  Give(reading.input, std::move(found));
  scores_.clear();
  spans_.clear();
  return OkStatus();
}

Result<std::vector<LabelScore>> TextClassification::Together(std::string_view text) const {
  const std::vector<std::string>& labels = model_.config().id2label;
  std::vector<float> together = scores_[0];
  std::vector<size_t> window(labels.size(), 0);  // for each label: the window of its score
  for (size_t label = 0; label < labels.size(); ++label) {
    double sum = 0;
    for (size_t w = 0; w < scores_.size(); ++w) {
      sum += scores_[w][label];
      if (scores_[w][label] > scores_[window[label]][label]) window[label] = w;
    }
    together[label] = scores_[window[label]][label];
    if (request.windows == WindowChoice::kMean) together[label] = static_cast<float>(sum / double(scores_.size()));
  }
  if (!request.window_label.empty()) {
    const auto named = std::find(labels.begin(), labels.end(), request.window_label) - labels.begin();
    window.assign(labels.size(), window[static_cast<size_t>(named)]);
    together = scores_[window[0]];
  }
  Utf8IndexConverter index(text);
  const bool tell = request.stride && (request.windows == WindowChoice::kMax || !request.window_label.empty());
  std::vector<LabelScore> found;
  // transformers looks up the names of all labels even if it returns few, except for top_k = 1. A missing name is then an error.
  for (size_t label = 0; request.top_k != 1 && label < labels.size(); ++label) {
    PERUSE_RETURN_IF_ERROR(LabelName(model_.config(), label).status());
  }
  for (size_t label : BestFirst(together, static_cast<size_t>(request.top_k))) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view name, LabelName(model_.config(), label));
    found.push_back({name, together[label], std::nullopt});
    if (tell) found.back().window = ToTextSpan(index, spans_[window[label]]);
  }
  return found;
}

}  // namespace peruse
