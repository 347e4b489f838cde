#include "core/tasks/text_ranking.h"

#include <algorithm>
#include <utility>

#include "core/tasks/sentence_embedder.h"

namespace peruse {

TextRanking::TextRanking(const TaskContext& context)
    : TaskOf(context),
      settings_(context.ranking != nullptr ? *context.ranking : RankingSettings()),
      sentence_(context.sentence),
      activation_(settings_.modules.ranking_activation) {
  if (activation_.empty()) activation_ = model_.config().ranking_activation;
  if (sentence_ != nullptr) output_ = {OutputKind::kHidden, model_.config().num_hidden_layers};
}

Status TextRanking::Start() {
  PERUSE_RETURN_IF_ERROR(FindLabel());
  if (request.function) {
    function_ = *request.function;
  } else {
    PERUSE_ASSIGN_OR_RETURN(function_, ConfiguredFunction());
  }
  PERUSE_ASSIGN_OR_RETURN(prompt_, PromptOf(settings_.modules, request.prompt, request.prompt_name));
  const std::optional<int32_t> own = settings_.modules.max_seq_length;
  PERUSE_ASSIGN_OR_RETURN(const int32_t max_length,
                          Length(request.max_length, own ? std::min(*own, model_.config().max_tokens) : UsualTokens()));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> pairs, Pairs(request.inputs[i], max_length));
    if (pairs.empty()) Give(i, {});
    EnqueueAll(i, std::move(pairs));
  }
  return OkStatus();
}

Result<std::vector<text::Encoding>> TextRanking::Pairs(const RankingInput& input, int32_t max_length) const {
  const auto& [query, documents] = input;
  const text::EncodeOptions options = CutTo(max_length, text::Truncation::kLongestFirst);
  std::vector<text::Encoding> pairs;
  if (documents.empty()) return pairs;
  if (settings_.pair_template) {
    for (const std::string& document : documents) {
      PERUSE_ASSIGN_OR_RETURN(pairs.emplace_back(), EncodeTemplate(tokenizer_, *settings_.pair_template,
                                                                   {prompt_, query, document}, max_length));
    }
  } else {
    PERUSE_ASSIGN_OR_RETURN(pairs, tokenizer_.EncodeWithEach(prompt_ + query, documents, options));
  }
  return pairs;
}

Status TextRanking::FindLabel() {
  const std::vector<std::string>& labels = model_.config().id2label;
  if (labels.size() == 1 && request.label.empty()) return OkStatus();
  column_ = static_cast<size_t>(std::find(labels.begin(), labels.end(), request.label) - labels.begin());
  if (column_ < labels.size()) return OkStatus();
  std::string names;
  for (size_t i = 0; i < labels.size() && names.size() < 100; ++i) names += (i == 0 ? "" : ", ") + labels[i];
  return InvalidArgument("option label must name the label to rank by, one of " + names + ", not \"" + request.label +
                         "\"");
}

Result<ScoreFunction> TextRanking::ConfiguredFunction() const {
  // Some releases of sentence-transformers wrote "fullname" as an activation; it then uses the default.
  const bool is_unnamed = activation_.empty() || activation_ == "sentence_transformers.util.fullname";
  if (is_unnamed) return model_.config().num_labels() == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kNone;
  const bool of_torch =
      activation_.starts_with("torch.");  // a class outside of torch may compute anything, whatever its name
  if (of_torch && activation_.ends_with(".Sigmoid")) return ScoreFunction::kSigmoid;
  if (of_torch && activation_.ends_with(".Identity")) return ScoreFunction::kNone;
  return Unsupported("the checkpoint's activation \"" + std::string(activation_) +
                     "\" for ranking is not supported; pass function_to_apply");
}

std::vector<float> TextRanking::LogitsOf(size_t text) const {
  const std::span<const float> values = outputs_.Get(output_, text).values;
  if (sentence_ != nullptr) return sentence_->Embed(values, /*skip=*/0);
  if (model_.config().score_tokens.size() == 2) return {values[0] - values[1]};
  return {values.begin(), values.end()};
}

Status TextRanking::Collect(const Reading& reading, size_t text) {
  const std::vector<float> logits = LogitsOf(text);
  RankedDocument document{reading.number, 0, logits};
  order_.push_back(OrderingScore(function_, logits, column_));
  Apply(function_, document.scores);
  document.score = document.scores[column_];
  if (logits.size() == 1) document.scores.clear();
  documents_.push_back(std::move(document));
  if (!reading.last) return OkStatus();
  std::vector<RankedDocument> ranked;
  for (size_t i : BestFirst(order_, static_cast<size_t>(request.top_k))) ranked.push_back(std::move(documents_[i]));
  documents_.clear();
  order_.clear();
  Give(reading.input, std::move(ranked));
  return OkStatus();
}

}  // namespace peruse
