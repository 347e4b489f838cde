#include "core/tasks/text_ranking.h"

#include <algorithm>
#include <utility>

namespace peruse {

Status TextRanking::Start() {
  PERUSE_RETURN_IF_ERROR(FindLabel());
  if (request.function) {
    function_ = *request.function;
  } else {
    PERUSE_ASSIGN_OR_RETURN(function_, ConfiguredFunction());
  }
  PERUSE_ASSIGN_OR_RETURN(
      const int32_t max_length,
      Length(request.max_length, max_length_ ? std::min(*max_length_, model_.config().max_tokens) : UsualTokens()));
  const text::EncodeOptions options = CutTo(max_length, text::Truncation::kLongestFirst);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const auto& [query, documents] = request.inputs[i];
    const std::string whole = std::string(prompt_) + query;
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> pairs, tokenizer_.EncodeWithEach(whole, documents, options));
    bool is_blank = !pairs.empty() && pairs[0].is_blank[0];
    if (!prompt_.empty()) {  // adds the prompt to the query
      PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> alone, tokenizer_.Encode(query));
      is_blank = alone[0].is_blank[0];
    }
    if (is_blank) return Status(StatusCode::kEmptyText, "the query is empty or only white space");
    if (pairs.empty()) Give(i, {});
    EnqueueAll(i, std::move(pairs));
  }
  return OkStatus();
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

Status TextRanking::Collect(const Reading& reading, size_t text) {
  const std::span<const float> logits = outputs_.Get(kLogits, text).values;
  RankedDocument document{reading.number, 0, {logits.begin(), logits.end()}};
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
