#include "core/tasks/inspector.h"

#include <utility>

#include "core/models/attention_map.h"
#include "core/tasks/options.h"
#include "core/tasks/spans.h"

namespace peruse {
namespace {

constexpr std::string_view kLongTextAdvice = "pass truncation: true to look only at its beginning";

// Heads of the convolution kernels that are made for each position; 0 when the architecture has none.
int32_t KernelHeads(const ModelConfig& config) {
  if (config.architecture == Architecture::kConvBert) return config.convbert.heads;
  return config.architecture == Architecture::kDynamicConv ? config.num_attention_heads : 0;
}

}  // namespace

std::span<const float> Inspector::array(size_t index) const {
  for (const std::vector<Array>* arrays : {&attentions_, &span_kernels_, &hidden_states_}) {
    if (index < arrays->size()) return (*arrays)[index].values;
    index -= arrays->size();
  }
  return {};
}

Status Inspector::Read(JsonValue inputs, JsonValue options) {
  for (std::vector<Array>* arrays : {&attentions_, &span_kernels_, &hidden_states_}) arrays->clear();
  concentrations_.clear();
  tokens_ = {};
  if (inputs.size() != 1) return InvalidArgument("one text or pair is looked into at a time");
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  PERUSE_RETURN_IF_ERROR(ReadTexts(*inputs.begin()));
  // Tokens alone need no run.
  if (attentions_wanted_ || span_kernels_wanted_ || hidden_states_wanted_) Enqueue(tokens_);
  return OkStatus();
}

Status Inspector::ReadOptions(JsonValue options) {
  attentions_wanted_ = span_kernels_wanted_ = hidden_states_wanted_ = truncation_ = false;
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "output_attentions", &attentions_wanted_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "output_span_kernels", &span_kernels_wanted_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "output_hidden_states", &hidden_states_wanted_));
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "truncation", &truncation_));
  const ModelConfig& config = model_.config();
  if (attentions_wanted_ && model_.attention_heads() == 0) {
    return Unsupported("output_attentions: a model of type " + config.model_type + " has no attention heads");
  }
  if (span_kernels_wanted_ && KernelHeads(config) == 0) {
    return Unsupported("output_span_kernels: a model of type " + config.model_type +
                       " makes no convolution kernels; convbert and dynamicconv do");
  }
  return OkStatus();
}

Status Inspector::ReadTexts(JsonValue input) {
  EncodeOptions options;
  if (truncation_ && MaxTokens() != ModelConfig::kUnlimited) {
    options.truncation = Truncation::kLongestFirst;
    options.max_length = MaxTokens();
  }
  PERUSE_ASSIGN_OR_RETURN(texts_[0], ReadText(input, "text"));
  std::vector<Encoding> windows;
  if (input.FindMember("text_pair").exists()) {
    PERUSE_ASSIGN_OR_RETURN(texts_[1], ReadText(input, "text_pair"));
    PERUSE_ASSIGN_OR_RETURN(windows, tokenizer_.EncodePair(texts_[0], texts_[1], options));
  } else {
    texts_[1].clear();
    PERUSE_ASSIGN_OR_RETURN(windows, tokenizer_.Encode(texts_[0], options));
  }
  PERUSE_RETURN_IF_ERROR(CheckText(windows[0], 0, kLongTextAdvice));
  tokens_ = std::move(windows[0]);
  return OkStatus();
}

RunOptions Inspector::run_options() const {
  RunOptions options;
  options.attentions = attentions_wanted_;
  options.span_kernels = span_kernels_wanted_;
  options.hidden_states = hidden_states_wanted_;
  // Nobody reads the scores: one row, and not a vocabulary for every token.
  static constexpr int32_t kFirstRow[] = {0};
  if (model_.head() == Head::kMaskedLm) options.logit_rows = kFirstRow;
  return options;
}

Status Inspector::Collect(size_t, std::span<const float>) {
  const auto tokens = static_cast<int32_t>(tokens_.size());
  for (int32_t layer = 0; layer < model_.attention_count(); ++layer) {
    attentions_.push_back({{model_.attention_heads(), tokens, tokens}, model_.attention(layer)});
    concentrations_.push_back(Concentrations(model_.attention(layer)));
  }
  const int32_t heads = KernelHeads(model_.config());
  for (int32_t layer = 0; layer < model_.span_kernel_count(); ++layer) {
    const std::span<const float> kernels = model_.span_kernel(layer);
    const auto width = static_cast<int32_t>(kernels.size()) / tokens;  // heads * kernel_size
    span_kernels_.push_back({{tokens, heads, width / heads}, kernels});
  }
  for (int32_t layer = 0; layer < model_.hidden_state_count(); ++layer) {
    hidden_states_.push_back({{tokens, model_.config().hidden_size}, model_.hidden_state(layer)});
  }
  return OkStatus();
}

// map: [heads, tokens, tokens]
std::vector<double> Inspector::Concentrations(std::span<const float> map) const {
  const size_t size = tokens_.size() * tokens_.size();
  const auto tokens = static_cast<int32_t>(tokens_.size());
  std::vector<double> result;
  for (size_t at = 0; at < map.size(); at += size) {
    result.push_back(DiagonalConcentration(map.subspan(at, size), tokens, tokens));
  }
  return result;
}

void Inspector::Write(JsonWriter& writer) const {
  writer.BeginArray();
  writer.BeginObject();
  WriteTokens(writer);
  if (attentions_wanted_) {
    WriteArrays(writer, "attentions", attentions_, 0);
    writer.Key("diagonal_concentration");
    writer.BeginArray();
    for (const std::vector<double>& layer : concentrations_) {
      writer.BeginArray();
      for (const double value : layer) writer.Double(value);
      writer.EndArray();
    }
    writer.EndArray();
  }
  if (span_kernels_wanted_) WriteArrays(writer, "span_kernels", span_kernels_, attentions_.size());
  if (hidden_states_wanted_) {
    WriteArrays(writer, "hidden_states", hidden_states_, attentions_.size() + span_kernels_.size());
  }
  writer.EndObject();
  writer.EndArray();
}

void Inspector::WriteTokens(JsonWriter& writer) const {
  Utf8IndexConverter indices[2] = {Utf8IndexConverter(texts_[0]), Utf8IndexConverter(texts_[1])};
  writer.Key("tokens");
  writer.BeginArray();
  for (size_t t = 0; t < tokens_.size(); ++t) {
    const int32_t sequence = tokens_.sequence_ids[t];
    const Result<std::string> token = tokenizer_.IdToToken(tokens_.ids[t]);
    writer.BeginObject();
    writer.Key("token");
    writer.String(token.ok() ? *token : std::string());
    writer.Key("id");
    writer.Int(tokens_.ids[t]);
    WriteSpan(writer, indices[sequence == 1 ? 1 : 0], tokens_.offsets[t]);
    writer.Key("special");
    writer.Bool(tokens_.special_tokens_mask[t] != 0);
    writer.Key("sequence");
    if (sequence < 0) {
      writer.Null();
    } else {
      writer.Int(sequence);
    }
    writer.EndObject();
  }
  writer.EndArray();
}

void Inspector::WriteArrays(JsonWriter& writer, std::string_view key, const std::vector<Array>& arrays, size_t first) {
  writer.Key(key);
  writer.BeginArray();
  for (const Array& array : arrays) {
    writer.BeginObject();
    writer.Key("array");
    writer.Int(static_cast<int64_t>(first++));
    writer.Key("dims");
    writer.BeginArray();
    for (const int32_t dim : array.dims) writer.Int(dim);
    writer.EndArray();
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace peruse
