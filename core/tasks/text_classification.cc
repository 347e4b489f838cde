#include "core/tasks/text_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"

namespace peruse {
namespace {

constexpr std::string_view kLongTextAdvice = "pass truncation: true to read only its beginning";

}  // namespace
Status TextClassification::Read(JsonValue inputs, JsonValue options) {
  results_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view text, ReadText(input, "text"));
    std::vector<Encoding> windows;
    if (input.FindMember("text_pair").exists()) {
      PERUSE_ASSIGN_OR_RETURN(const std::string_view pair, ReadText(input, "text_pair"));
      PERUSE_ASSIGN_OR_RETURN(windows, tokenizer_.EncodePair(text, pair, encode_options_));
    } else {
      PERUSE_ASSIGN_OR_RETURN(windows, tokenizer_.Encode(text, encode_options_));
    }
    PERUSE_RETURN_IF_ERROR(CheckText(windows[0], results_.size(), kLongTextAdvice));
    Enqueue(std::move(windows[0]));
    results_.emplace_back();
  }
  return OkStatus();
}

Status TextClassification::ReadOptions(JsonValue options) {
  top_k_ = 1;
  if (options.FindMember("top_k").IsNull()) {
    top_k_ = 0;
  } else {
    PERUSE_RETURN_IF_ERROR(ReadOption(options, "top_k", 1, &top_k_));
  }
  PERUSE_RETURN_IF_ERROR(ReadFunction(options));
  bool truncation = false;
  int32_t max_length = MaxTokens();
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "truncation", &truncation));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "max_length", 1, &max_length));
  if (max_length > MaxTokens()) {
    return InvalidArgument("option max_length is " + std::to_string(max_length) + " and the model takes " +
                           std::to_string(MaxTokens()) + " tokens");
  }
  encode_options_ = {};
  if (truncation && max_length != ModelConfig::kUnlimited) {
    encode_options_.truncation = Truncation::kLongestFirst;
    encode_options_.max_length = max_length;
  }
  return OkStatus();
}

Status TextClassification::ReadFunction(JsonValue options) {
  std::string name;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "function_to_apply", &name));
  if (name.empty()) {
    function_ = DefaultFunction();
  } else if (name == "softmax") {
    function_ = Function::kSoftmax;
  } else if (name == "sigmoid") {
    function_ = Function::kSigmoid;
  } else if (name == "none") {
    function_ = Function::kNone;
  } else {
    return InvalidArgument("option function_to_apply must be \"softmax\", \"sigmoid\" or \"none\", not \"" + name +
                           "\"");
  }
  return OkStatus();
}

TextClassification::Function TextClassification::DefaultFunction() const {
  const ModelConfig& config = model_.config();
  if (config.problem_type == ProblemType::kRegression) return Function::kNone;
  if (config.problem_type == ProblemType::kMultiLabel || config.num_labels() == 1) return Function::kSigmoid;
  return Function::kSoftmax;
}

Status TextClassification::Collect(size_t index, std::span<const float> logits) {
  std::vector<float> scores(logits.begin(), logits.end());
  switch (function_) {
    case Function::kSoftmax:
      Softmax(scores);
      break;
    case Function::kSigmoid:
      Sigmoid(scores);
      break;
    case Function::kNone:
      break;
  }
  for (size_t label : BestFirst(scores, static_cast<size_t>(top_k_))) {
    results_[index].push_back({static_cast<int32_t>(label), scores[label]});
  }
  return OkStatus();
}

void TextClassification::Write(JsonWriter& writer) const {
  writer.BeginArray();
  for (const std::vector<LabelScore>& labels : results_) {
    writer.BeginArray();
    for (const LabelScore& item : labels) {
      writer.BeginObject();
      writer.Key("label");
      writer.String(model_.config().id2label[static_cast<size_t>(item.label)]);
      writer.Key("score");
      writer.Double(item.score);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndArray();
}

}  // namespace peruse
