#include "core/tasks/inspector.h"

#include <algorithm>
#include <utility>

#include "core/base/memory.h"
#include "core/model/attention_maps.h"

namespace peruse {
namespace {

constexpr std::string_view kLongTextAdvice = "pass truncation: true to look only at its beginning";

void AppendOutputs(OutputKind kind, const std::vector<int32_t>& layers, std::vector<OutputId>* ids) {
  for (const int32_t layer : layers) ids->push_back({kind, layer});
}

bool HasOutput(const Runner& model, OutputKind kind) {
  const std::vector<OutputId> ids = model.Outputs();
  return std::any_of(ids.begin(), ids.end(), [kind](OutputId id) { return id.kind == kind; });
}

}  // namespace

Status Inspector::Start() {
  PERUSE_RETURN_IF_ERROR(CheckRequest());
  if (request.labels) return StartWithLabels();
  const bool runs = !Wanted().empty();
  for (size_t input = 0; input < request.inputs.size(); ++input) {
    PERUSE_ASSIGN_OR_RETURN(text::Encoding tokens, Tokenized(input));
    if (runs) {
      Enqueue({.input = input, .tokens = std::move(tokens), .alone = RunsAlone()});
    } else {
      Give(input, {.tokens = Tokens(input, tokens)});  // tokens are available without a run
    }
  }
  return OkStatus();
}

// Maps and terms are computed for a batch of one text. The logits of a vocabulary would be large for a batch of several.
bool Inspector::RunsAlone() const {
  return request.output_attentions || request.output_span_kernels || request.output_attention_terms ||
         (request.output_logits && model_.head() == Head::kMaskedLm);
}

Status Inspector::CheckRequest() const {
  const ModelConfig& config = model_.config();
  if (request.output_attentions && model_.attention_heads() == 0) {
    return Unsupported("output_attentions: a model of type " + config.model_type + " has no attention heads");
  }
  if (request.output_span_kernels && model_.span_kernel_heads() == 0) {
    return Unsupported("output_span_kernels: a model of type " + config.model_type +
                       " makes no convolution kernels; convbert and dynamicconv do");
  }
  if (request.output_attention_terms && !HasOutput(model_, OutputKind::kQuery)) {
    return Unsupported("output_attention_terms: the scores of a model of type " + config.model_type +
                       " are no sums of content and position; deberta and deberta-v2 have such");
  }
  if (request.output_logits) PERUSE_RETURN_IF_ERROR(CheckLogits());
  for (const int32_t layer : request.layers.value_or(std::vector<int32_t>())) {
    if (layer >= -1 && layer < config.num_hidden_layers) continue;
    return InvalidArgument("option layers holds " + std::to_string(layer) + ", and the model has the layers 0 to " +
                           std::to_string(config.num_hidden_layers - 1));
  }
  return OkStatus();
}

Result<text::Encoding> Inspector::Tokenized(size_t input) const {
  if (request.inputs[input].ids) return TokensOfIds(input);
  const text::EncodeOptions options =
      request.truncation ? CutTo(MaxTokens(), text::Truncation::kLongestFirst) : text::EncodeOptions();
  return Checked(Encode(request.inputs[input], options), input, kLongTextAdvice);
}

Result<text::Encoding> Inspector::TokensOfIds(size_t input) const {
  const std::vector<int32_t>& ids = *request.inputs[input].ids;
  const std::vector<int32_t> types = request.inputs[input].type_ids.value_or(std::vector<int32_t>(ids.size()));
  if (model_.config().reads_labels()) {
    return Unsupported("ids: a model of type " + model_.config().model_type + " reads labels with the text");
  }
  if (types.size() != ids.size()) {
    return InvalidArgument("type_ids holds " + std::to_string(types.size()) + " numbers, and there are " +
                           std::to_string(ids.size()) + " ids");
  }
  text::Encoding tokens;
  if (!tokens.Reserve(ids.size())) return OutOfMemory("the tokens");
  for (size_t i = 0; i < ids.size(); ++i) tokens.Append(ids[i], types[i], -1, -1, 0, {0, 0});
  PERUSE_RETURN_IF_ERROR(CheckTokens(tokens, input, "pass fewer ids"));
  return tokens;
}

Status Inspector::CheckLogits() const {
  if (model_.config().reads_schema()) {
    return Unsupported("output_logits: a model of type " + model_.config().model_type +
                       " fills in a schema; its tasks return the scores");
  }
  if (model_.config().reads_labels() && !request.labels) {
    return InvalidArgument("output_logits: a model of type " + model_.config().model_type +
                           " reads labels with the text: pass the option labels");
  }
  if (HasOutput(model_, OutputKind::kLogits)) return OkStatus();
  return Unsupported("output_logits: the model was loaded without a head; load it for the task of its head");
}

Status Inspector::StartWithLabels() {
  const ModelConfig& config = model_.config();
  if (!config.reads_labels() || config.reads_schema()) {
    return Unsupported("labels: a model of type " + config.model_type + " does not read labels with the text");
  }
  if (request.inputs.size() != 1 || request.inputs[0].pair || request.inputs[0].ids) {
    return InvalidArgument("option labels takes one text at a time, not a pair or ids");
  }
  if (request.labels->empty()) return InvalidArgument("option labels must name at least one label");
  std::vector<Reading> labels;
  PERUSE_ASSIGN_OR_RETURN(std::vector<Reading> texts, ReadWithLabels(&labels));
  if (Wanted().empty()) {
    Give(0, {.tokens = Tokens(0, texts[0].tokens)});
    return OkStatus();
  }
  for (Reading& reading : labels) Enqueue(std::move(reading));
  for (Reading& reading : texts) Enqueue(std::move(reading));
  return OkStatus();
}

// Returns the readings of the text, whose tokens are the same.
Result<std::vector<Reading>> Inspector::ReadWithLabels(std::vector<Reading>* labels) {
  const std::string& text = request.inputs[0].text;
  std::vector<Reading> readings;
  if (!compares_words()) {
    PERUSE_ASSIGN_OR_RETURN(*labels, labelled_.Start(*request.labels));
    PERUSE_ASSIGN_OR_RETURN(Reading reading, labelled_.Read(0, text, request.truncation));
    readings.push_back(std::move(reading));
    return readings;
  }
  PERUSE_ASSIGN_OR_RETURN(*labels, entities_.Start(*request.labels, MaxTokens()));
  PERUSE_ASSIGN_OR_RETURN(readings, entities_.Read(0, text, &words_));
  if (readings.empty()) return Status(StatusCode::kEmptyText, "the text has no words");
  if (request.truncation) std::erase_if(readings, [](const Reading& it) { return it.first_word > 0; });
  const Reading& end = readings.back();
  if (end.first_word > 0 || end.first_label > 0) {
    return Status(StatusCode::kTextTooLong, "the text and its labels are more than the model reads at once; " +
                                                std::string(kLongTextAdvice) + ", or fewer labels");
  }
  readings.back().last = true;
  return readings;
}

void Inspector::AppendLogits(const Reading& reading, std::span<const float> logits) {
  label_logits_.insert(label_logits_.end(), logits.begin(), logits.end());
  if (!compares_words()) return;
  const bool of_spans = entities_.finds_spans();
  for (size_t pair = 0; pair < reading.head.pair_first.size(); ++pair) {
    const auto first = static_cast<size_t>(reading.head.pair_first[pair]);
    const auto second = static_cast<size_t>(reading.head.pair_second[pair]);
    if (of_spans || second == 0) spans_.push_back({words_[first].start, words_[of_spans ? second : first].end});
  }
}

std::vector<OutputId> Inspector::Wanted() const {
  const std::vector<int32_t> layers = Layers(model_.config().num_hidden_layers);
  std::vector<OutputId> ids;
  if (request.output_attentions) AppendOutputs(OutputKind::kAttention, layers, &ids);
  if (request.output_span_kernels) AppendOutputs(OutputKind::kSpanKernel, layers, &ids);
  if (request.output_hidden_states) {
    AppendOutputs(OutputKind::kHidden, Layers(model_.config().num_hidden_layers + 1), &ids);
  }
  if (request.output_logits) ids.push_back(kLogits);
  for (const OutputKind kind :
       {OutputKind::kQuery, OutputKind::kKey, OutputKind::kPositionKey, OutputKind::kPositionQuery}) {
    if (request.output_attention_terms && HasOutput(model_, kind)) AppendOutputs(kind, layers, &ids);
  }
  return ids;
}

std::vector<int32_t> Inspector::Layers(int32_t count) const {
  std::vector<int32_t> layers = request.layers.value_or(std::vector<int32_t>());
  for (int32_t& layer : layers) layer = layer < 0 ? count - 1 : layer;
  for (int32_t i = 0; i < count && !request.layers; ++i) layers.push_back(i);
  return layers;
}

Status Inspector::CollectTerms(int32_t tokens, std::vector<InspectedTerms>* found) const {
  const std::vector<int32_t> layers = Layers(model_.config().num_hidden_layers);
  const auto side = static_cast<size_t>(tokens);
  const size_t map = SaturatingMultiply(static_cast<size_t>(model_.attention_heads()) * sizeof(float), side * side);
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(3 * layers.size(), map), "the terms of the attention"));
  for (const int32_t layer : layers) {
    const AttentionTerms terms = model_.attention_terms(layer);
    InspectedTerms& one = found->emplace_back();
    one.dims = {terms.heads, tokens, tokens};
    one.content_to_content = ContentToContent(terms);
    if (!terms.position_key.empty()) one.content_to_position = ContentToPosition(terms);
    if (!terms.position_query.empty()) one.position_to_content = PositionToContent(terms);
  }
  return OkStatus();
}

Status Inspector::Collect(const Reading& reading, size_t text) {
  if (reading.label >= 0) {
    const std::span<const float> vector = outputs_.Get(kLabelVectors, text).values;
    compares_words() ? entities_.Collect(reading, vector) : labelled_.Collect(reading, vector);
    return OkStatus();
  }
  if (request.labels && request.output_logits) AppendLogits(reading, outputs_.Get(kLogits, text).values);
  if (!reading.last) return OkStatus();
  const auto tokens = static_cast<int64_t>(reading.tokens.size());
  InspectionResult found{.tokens = Tokens(reading.input, reading.tokens)};
  for (const OutputId id : Wanted()) {
    const auto [values, width] = outputs_.Get(id, text);
    const auto cols = static_cast<int64_t>(width);
    if (id.kind == OutputKind::kAttention) {
      found.attentions.push_back({{model_.attention_heads(), tokens, tokens}, values});
      found.diagonal_concentration.push_back(Concentrations(values, static_cast<int32_t>(tokens)));
    } else if (id.kind == OutputKind::kSpanKernel) {
      const int32_t heads = model_.span_kernel_heads();
      found.span_kernels.push_back({{tokens, heads, cols / heads}, values});
    } else if (id.kind == OutputKind::kHidden) {
      found.hidden_states.push_back({{tokens, cols}, values});
    } else if (id == kLogits && request.labels) {
      GiveLabelLogits(&found);
    } else if (id == kLogits) {
      const bool of_text = model_.output(id).rows.domain == Domain::kSequences;
      found.logits = {of_text ? std::vector{cols} : std::vector{tokens, cols}, values};
    }
  }
  if (request.output_attention_terms) {
    PERUSE_RETURN_IF_ERROR(CollectTerms(static_cast<int32_t>(tokens), &found.attention_terms));
  }
  Give(reading.input, std::move(found));
  return OkStatus();
}

void Inspector::GiveLabelLogits(InspectionResult* found) const {
  const auto values = static_cast<int64_t>(label_logits_.size());
  const auto rows = static_cast<int64_t>(spans_.size());
  found->logits = {{values}, label_logits_};
  if (!compares_words()) return;
  const bool of_spans = entities_.finds_spans();
  const auto labels = static_cast<int64_t>(entities_.labels().size());
  found->logits.dims = of_spans ? std::vector{rows, labels} : std::vector{rows, labels, int64_t{3}};
  Utf8IndexConverter index(request.inputs[0].text);
  for (const text::Offset& bytes : spans_) found->spans.push_back(ToTextSpan(index, bytes));
}

// Returns the diagonal concentration (core/model/attention_maps.h) of each map in `maps` [heads, tokens, tokens].
std::vector<double> Inspector::Concentrations(std::span<const float> maps, int32_t tokens) const {
  const size_t size = static_cast<size_t>(tokens) * static_cast<size_t>(tokens);
  std::vector<double> result;
  for (size_t at = 0; at < maps.size(); at += size) {
    result.push_back(DiagonalConcentration(maps.subspan(at, size), tokens, tokens));
  }
  return result;
}

std::vector<InspectedToken> Inspector::Tokens(size_t input, const text::Encoding& tokens) const {
  const auto& [text, pair] = static_cast<const TextInput&>(request.inputs[input]);
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
