#include "core/tasks/text_ranking.h"

#include <algorithm>
#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"

namespace peruse {

Status TextRanking::Read(JsonValue inputs, JsonValue options) {
  documents_.clear();
  scores_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) PERUSE_RETURN_IF_ERROR(ReadInput(input));
  return OkStatus();
}

Status TextRanking::ReadOptions(JsonValue options) {
  if (model_.config().num_labels() != 1) {
    return Unsupported("text-ranking needs a model with one label; this one has " +
                       std::to_string(model_.config().num_labels()));
  }
  top_k_ = 0;
  return_documents_ = false;
  std::string function;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "top_k", 1, &top_k_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "return_documents", &return_documents_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "function_to_apply", &function));
  if (function.empty()) {
    PERUSE_ASSIGN_OR_RETURN(sigmoid_, ConfiguredSigmoid());
    return OkStatus();
  }
  if (function != "sigmoid" && function != "none") {
    return InvalidArgument("option function_to_apply must be \"sigmoid\" or \"none\", not \"" + function + "\"");
  }
  sigmoid_ = function == "sigmoid";
  return OkStatus();
}

Result<bool> TextRanking::ConfiguredSigmoid() const {
  // The name of a class of PyTorch, "torch.nn.modules.activation.Sigmoid".
  const std::string_view name = model_.config().ranking_activation;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last.empty() || last == "Sigmoid") return true;
  if (last == "Identity") return false;
  return Unsupported("config.json: the activation \"" + std::string(name) +
                     "\" for ranking is not supported; pass function_to_apply");
}

Status TextRanking::ReadInput(JsonValue input) {
  PERUSE_ASSIGN_OR_RETURN(const std::string_view query, ReadText(input, "query"));
  std::vector<std::string> documents;
  PERUSE_RETURN_IF_ERROR(ReadOption(input, "documents", &documents));
  EncodeOptions options;
  if (MaxTokens() != ModelConfig::kUnlimited) {
    options.truncation = Truncation::kLongestFirst;
    options.max_length = MaxTokens();
  }
  PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> encodings, tokenizer_.EncodeWithEach(query, documents, options));
  for (Encoding& encoding : encodings) {
    const std::vector<int8_t>& sequences = encoding.sequence_ids;
    if (std::find(sequences.begin(), sequences.end(), 0) == sequences.end()) {
      return Status(StatusCode::kEmptyText, "the query is empty or only white space");
    }
    Enqueue(std::move(encoding));
  }
  documents_.push_back(std::move(documents));
  return OkStatus();
}

Status TextRanking::Collect(size_t, std::span<const float> logits) {
  float score[1] = {logits[0]};
  if (sigmoid_) Sigmoid(score);
  scores_.push_back(score[0]);
  return OkStatus();
}

void TextRanking::Write(JsonWriter& writer) const {
  writer.BeginArray();
  size_t first = 0;
  for (const std::vector<std::string>& documents : documents_) {
    const std::span<const float> scores = std::span(scores_).subspan(first, documents.size());
    writer.BeginArray();
    for (size_t i : BestFirst(scores, static_cast<size_t>(top_k_))) {
      writer.BeginObject();
      writer.Key("corpus_id");
      writer.Int(static_cast<int64_t>(i));
      writer.Key("score");
      writer.Double(scores[i]);
      if (return_documents_) {
        writer.Key("text");
        writer.String(documents[i]);
      }
      writer.EndObject();
    }
    writer.EndArray();
    first += documents.size();
  }
  writer.EndArray();
}

}  // namespace peruse
