#include <algorithm>

#include "core/api/option_reader.h"
#include "core/base/memory.h"
#include "core/tasks/text_span.h"
#include "core/tasks/zero_shot_classification.h"
#include "core/train/session/teach_request.h"
#include "core/train/session/teach_session.h"

namespace peruse::train {
namespace {

constexpr int32_t kMostSteps = 10000;

// The texts of a request: "text" and "pair", or "question" and "context".
std::optional<std::string_view> TextOf(JsonValue request, int sequence, bool question) {
  constexpr std::string_view kNames[2][2] = {{"text", "pair"}, {"question", "context"}};
  return request.FindMember(kNames[question ? 1 : 0][sequence]).GetString();
}

// Returns the text with every word replaced by the mask: a baseline that says nothing.
std::vector<int32_t> Masked(const text::Encoding& tokens, int32_t mask) {
  std::vector<int32_t> ids = tokens.ids;
  for (size_t t = 0; t < ids.size(); ++t) {
    if (tokens.special_tokens_mask[t] == 0) ids[t] = mask;
  }
  return ids;
}

}  // namespace

Status TeachSession::PrepareExplanations() {
  if (stage_ == Stage::kExplaining) return HoldReserve();
  PERUSE_RETURN_IF_ERROR(Expect(Stage::kExamples, "explain"));
  if (!request_.explains) return InvalidArgument("the session was not opened to explain");
  const std::vector<WeightTensor>& tensors = trainee_->weight_tensors().tensors();
  const auto fresh = std::find_if(tensors.begin(), tensors.end(),
                                  [](const WeightTensor& weight_tensor) { return weight_tensor.fresh; });
  if (fresh != tensors.end()) {
    return Status(StatusCode::kMissingHead, "the checkpoint has no weights for " + fresh->name);
  }
  PERUSE_ASSIGN_OR_RETURN(attributor_, Attributor::Create(*trainee_, request_.options.threads));
  stage_ = Stage::kExplaining;
  return OkStatus();
}

Result<text::Encoding> TeachSession::EncodeExplained(JsonValue request) const {
  const bool question = request_.head == Head::kQuestionAnswering;
  const std::optional<std::string_view> first = TextOf(request, 0, question), second = TextOf(request, 1, question);
  if (!first || (question && !second)) return InvalidArgument("there is no text to explain");
  auto windows = second ? tokenizer_->EncodePair(*first, *second, {}) : tokenizer_->Encode(*first, {});
  PERUSE_RETURN_IF_ERROR(windows.status());
  text::Encoding& tokens = windows->front();
  if (tokens.is_blank[0] && tokens.is_blank[1]) {
    return Status(StatusCode::kEmptyText, "the input has no text: it is empty or only white space");
  }
  if (static_cast<int64_t>(tokens.size()) > max_tokens_) {
    return Status(StatusCode::kTextTooLong, "the input has " + std::to_string(tokens.size()) +
                                                " tokens and the model takes " + std::to_string(max_tokens_) +
                                                ": explain a part of it");
  }
  return std::move(tokens);
}

Result<std::vector<AttributionRequest::Logit>> TeachSession::ExplainedLogits(JsonValue request,
                                                                             const text::Encoding& tokens) const {
  const ModelConfig& config = trainee_->config();
  if (request_.head == Head::kQuestionAnswering) {
    const JsonValue answer = request.FindMember("answer");
    const std::optional<int64_t> start = answer.FindMember("start").GetInt64();
    const std::optional<int64_t> end = answer.FindMember("end").GetInt64();
    if (!start || !end || *start < 0 || *end <= *start) return InvalidArgument("there is no answer to explain");
    Utf8IndexConverter index(*TextOf(request, 1, true));
    const auto from = static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(*start)));
    const auto to = static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(*end)));
    int32_t first = -1, last = -1;
    for (size_t t = 0; t < tokens.size(); ++t) {
      const text::Offset& offset = tokens.offsets[t];
      if (tokens.sequence_ids[t] != 1 || offset.start >= to || offset.end <= from) continue;
      if (first < 0) first = static_cast<int32_t>(t);
      last = static_cast<int32_t>(t);
    }
    if (first < 0) return InvalidArgument("the answer to explain has no token");
    return std::vector<AttributionRequest::Logit>{{first, 0}, {last, 1}};
  }
  if (request.FindMember("entailment").GetBool().value_or(false)) {
    PERUSE_ASSIGN_OR_RETURN(const int32_t entailment, EntailmentOf(config));
    return std::vector<AttributionRequest::Logit>{{0, entailment}};
  }
  const std::optional<std::string_view> label = request.FindMember("label").GetString();
  if (!label && config.id2label.size() == 1) return std::vector<AttributionRequest::Logit>{{0, 0}};
  const auto found = std::find(config.id2label.begin(), config.id2label.end(), label.value_or(""));
  if (found == config.id2label.end()) {
    return InvalidArgument("the model has no label \"" + std::string(label.value_or("")) + "\" to explain");
  }
  return std::vector<AttributionRequest::Logit>{{0, static_cast<int32_t>(found - config.id2label.begin())}};
}

Result<std::string> TeachSession::Explain(std::string_view json) {
  PERUSE_RETURN_IF_ERROR(PrepareExplanations());
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, "the request to explain"));
  const JsonValue request = document.root();
  AttributionRequest attributed;
  OptionReader reader(request);
  reader.Read("steps", 1, &attributed.steps);
  PERUSE_RETURN_IF_ERROR(reader.status());
  if (attributed.steps > kMostSteps)
    return InvalidArgument("option steps must be at most " + std::to_string(kMostSteps));
  PERUSE_ASSIGN_OR_RETURN(const text::Encoding tokens, EncodeExplained(request));
  PERUSE_ASSIGN_OR_RETURN(attributed.logits, ExplainedLogits(request, tokens));
  const int32_t mask = tokenizer_->mask_id() >= 0 ? tokenizer_->mask_id() : tokenizer_->pad_id();
  if (mask < 0) return Unsupported("the tokenizer has neither a mask nor a padding token, which the baseline needs");
  attributed.ids = tokens.ids;
  attributed.types = tokens.type_ids;
  attributed.baseline = Masked(tokens, mask);
  PERUSE_ASSIGN_OR_RETURN(const Attribution found, attributor_->Attribute(attributed));

  const bool question = request_.head == Head::kQuestionAnswering;
  const std::string_view texts[] = {TextOf(request, 0, question).value_or(""),
                                    TextOf(request, 1, question).value_or("")};
  Utf8IndexConverter indices[] = {Utf8IndexConverter(texts[0]), Utf8IndexConverter(texts[1])};
  std::string result;
  JsonWriter writer(&result);
  writer.BeginObject();
  WriteNumber(writer, "value", found.value);
  WriteNumber(writer, "baseline_value", found.baseline_value);
  writer.Key("tokens");
  writer.BeginArray();
  for (size_t t = 0; t < tokens.size(); ++t) {
    const int32_t sequence = tokens.sequence_ids[t];
    const TextSpan span = ToTextSpan(indices[sequence == 1 ? 1 : 0], tokens.offsets[t]);
    writer.BeginObject();
    WriteCount(writer, "start", span.start);
    WriteCount(writer, "end", span.end);
    writer.Key("sequence");
    sequence < 0 ? writer.Null() : writer.Int(sequence);
    WriteNumber(writer, "score", found.tokens[t]);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  if (writer.failed()) return OutOfMemory("no memory for the explanation");
  return result;
}

}  // namespace peruse::train
