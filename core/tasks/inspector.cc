#include "core/tasks/inspector.h"

#include <utility>

#include "core/model/attention_map.h"

namespace peruse {
namespace {

constexpr std::string_view kLongTextAdvice = "pass truncation: true to look only at its beginning";

void AppendNames(std::string_view kind, int32_t count, std::vector<std::string>* names) {
  for (int32_t i = 0; i < count; ++i) names->push_back(std::string(kind) + std::to_string(i));
}

}  // namespace

Status Inspector::Start() {
  const ModelConfig& config = model_.config();
  if (request.inputs.size() != 1) return InvalidArgument("one text or pair is looked into at a time");
  if (request.output_attentions && model_.attention_heads() == 0) {
    return Unsupported("output_attentions: a model of type " + config.model_type + " has no attention heads");
  }
  if (request.output_span_kernels && model_.span_kernel_heads() == 0) {
    return Unsupported("output_span_kernels: a model of type " + config.model_type +
                       " makes no convolution kernels; convbert and dynamicconv do");
  }
  const text::EncodeOptions options =
      request.truncation ? CutTo(MaxTokens(), text::Truncation::kLongestFirst) : text::EncodeOptions();
  PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens, Checked(Encode(request.inputs[0], options), 0, kLongTextAdvice));
  if (Wanted().empty()) {
    Give(0, {.tokens = Tokens(tokens)});  // which need no run
  } else {
    Enqueue(0, std::move(tokens));
  }
  return OkStatus();
}

std::vector<std::string> Inspector::Wanted() const {
  const int32_t layers = model_.config().num_hidden_layers;
  std::vector<std::string> names;
  if (request.output_attentions) AppendNames("attention.", layers, &names);
  if (request.output_span_kernels) AppendNames("span_kernel.", layers, &names);
  if (request.output_hidden_states) AppendNames("hidden.", layers + 1, &names);
  return names;
}

Status Inspector::Collect(const Reading& reading, size_t text) {
  const auto tokens = static_cast<int64_t>(reading.tokens.size());
  InspectionResult found{.tokens = Tokens(reading.tokens)};
  for (const std::string& name : Wanted()) {
    const auto [values, width] = outputs_.Get(name, text);
    const auto cols = static_cast<int64_t>(width);
    if (name.starts_with("attention.")) {
      found.attentions.push_back({{model_.attention_heads(), tokens, tokens}, values});
      found.diagonal_concentration.push_back(Concentrations(values, static_cast<int32_t>(tokens)));
    } else if (name.starts_with("span_kernel.")) {
      const int32_t heads = model_.span_kernel_heads();
      found.span_kernels.push_back({{tokens, heads, cols / heads}, values});
    } else {
      found.hidden_states.push_back({{tokens, cols}, values});
    }
  }
  Give(0, std::move(found));
  return OkStatus();
}

// maps: [heads, tokens, tokens]
std::vector<double> Inspector::Concentrations(std::span<const float> maps, int32_t tokens) const {
  const size_t size = static_cast<size_t>(tokens) * static_cast<size_t>(tokens);
  std::vector<double> result;
  for (size_t at = 0; at < maps.size(); at += size) {
    result.push_back(DiagonalConcentration(maps.subspan(at, size), tokens, tokens));
  }
  return result;
}

std::vector<InspectedToken> Inspector::Tokens(const text::Encoding& tokens) const {
  const auto& [text, pair] = request.inputs[0];
  Utf8IndexConverter indices[2] = {Utf8IndexConverter(text), Utf8IndexConverter(pair ? *pair : std::string_view())};
  std::vector<InspectedToken> found;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const int32_t sequence = tokens.sequence_ids[t];
    const Result<std::string> token = tokenizer_.IdToToken(tokens.ids[t]);
    found.push_back({token.ok() ? *token : std::string(), tokens.ids[t],
                     ToTextSpan(indices[sequence == 1 ? 1 : 0], tokens.offsets[t]), tokens.special_tokens_mask[t] != 0,
                     sequence});
  }
  return found;
}

}  // namespace peruse
