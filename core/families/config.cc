#include "core/families/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/families/quantization.h"

namespace peruse {
namespace {

// Returns a number as Python prints it; nullopt if Python would use an exponent.
std::optional<std::string> NameOf(JsonValue value) {
  if (const auto name = value.GetString()) return std::string(*name);
  if (const auto integer = value.GetInt64()) return std::to_string(*integer);
  const std::optional<double> number = value.GetDouble();
  if (!number || (*number != 0 && (std::fabs(*number) < 1e-4 || std::fabs(*number) >= 1e16))) return std::nullopt;
  return ShortestDecimal(*number);
}

// Reads id2label. Its keys may be any integers; its size is the number of labels.
void ReadLabels(ConfigReader& reader, ModelConfig& config) {
  const JsonValue labels = reader.Field("id2label");
  const bool named = labels.IsObject();
  if (labels.exists() && !labels.IsObject()) reader.Refuse("id2label", "must be an object");
  const int32_t count = named ? static_cast<int32_t>(std::min<size_t>(labels.size(), kMaxLabels + 1))
                              : reader.Int("num_labels", 2, 0, kMaxLabels);
  if (count > kMaxLabels) {
    reader.Fail(MalformedFile("config.json: id2label has more than " + std::to_string(kMaxLabels) + " labels"));
    return;
  }
  config.id2label.assign(static_cast<size_t>(count), "");
  for (int32_t i = 0; i < count; ++i) config.id2label[static_cast<size_t>(i)] = "LABEL_" + std::to_string(i);
  if (!named) return;

  // As in transformers, the number of labels is the number of names, even if the keys have gaps.
  std::vector<bool> seen(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    const std::string_view key = labels.MemberName(static_cast<size_t>(i));
    std::optional<std::string> name = NameOf(labels.MemberValue(static_cast<size_t>(i)));
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const bool numbered = error == std::errc() && end == key.data() + key.size();
    const bool used = numbered && id >= 0 && id < count;
    if (!numbered || !name || (used && seen[static_cast<size_t>(id)])) {
      reader.Refuse("id2label", "must be an object from integers to names, with each integer once");
      return;
    }
    if (!used) continue;
    seen[static_cast<size_t>(id)] = true;
    config.id2label[static_cast<size_t>(id)] = *std::move(name);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (!seen[static_cast<size_t>(i)]) config.nameless.push_back(i);
  }
}

void ReadStoredPrecision(ConfigReader& reader, ModelConfig& config) {
  const JsonValue quantization = reader.Field("quantization_config");
  if (!quantization.exists()) return;
  const Result<Precision> stored = ReadQuantization(quantization);
  if (!stored.ok()) reader.Fail(stored.status());
  if (stored.ok()) config.stored_precision = *stored;
}

// Precondition: ReadLabels has run.
void ReadLabelIds(ConfigReader& reader, ModelConfig& config) {
  const JsonValue ids = reader.Field("label2id");
  // Without id2label transformers creates both mappings.
  const bool named = reader.Field("id2label").size() > 0 && ids.IsObject();
  for (size_t i = 0; named && i < ids.size() && i < kMaxLabels; ++i) {
    const std::optional<int64_t> id = ids.MemberValue(i).GetInt64();
    if (!id || *id < 0 || *id >= config.num_labels()) continue;  // ignores ids without a label
    config.label2id.emplace_back(ids.MemberName(i), static_cast<int32_t>(*id));
  }
  if (!config.label2id.empty()) return;
  for (int32_t i = 0; i < config.num_labels(); ++i) {
    config.label2id.emplace_back(config.id2label[static_cast<size_t>(i)], i);
  }
}

void ReadProblemType(ConfigReader& reader, ModelConfig& config) {
  const JsonValue cross_encoder = reader.Field("sentence_transformers").FindMember("activation_fn");
  config.ranking_activation = std::string(cross_encoder.GetString().value_or(""));
  if (config.ranking_activation.empty()) {
    config.ranking_activation = reader.String("sbert_ce_default_activation_function", "");
  }
  const std::string name = reader.String("problem_type", "");
  if (name == "regression")
    config.problem_type = ProblemType::kRegression;
  else if (name == "single_label_classification")
    config.problem_type = ProblemType::kSingleLabel;
  else if (name == "multi_label_classification")
    config.problem_type = ProblemType::kMultiLabel;
  else if (!name.empty())
    reader.Refuse("problem_type",
                  "must be \"regression\", \"single_label_classification\" or \"multi_label_classification\"");
}

}  // namespace

ModelConfig ReadModelConfig(ConfigReader& reader, const ConfigDefaults& defaults, const ConfigFields& fields) {
  ModelConfig config;
  ReadStoredPrecision(reader, config);
  if (const auto name = reader.Field("architectures")[0].GetString()) config.architecture_class = std::string(*name);
  config.lora_task = reader.String("lora_task", "");
  if (reader.Bool("is_decoder", false)) {
    reader.Fail(Unsupported("config.json: is_decoder is true; Peruse runs encoders, which see a text from both sides"));
  }
  config.vocab_size = reader.Int("vocab_size", defaults.vocab_size, 1, kMaxVocabulary);
  config.hidden_size = reader.Int(fields.hidden_size, defaults.hidden_size, 1, kMaxHidden);
  config.num_hidden_layers = reader.Int(fields.num_hidden_layers, defaults.num_hidden_layers, 1, kMaxLayers);
  config.num_attention_heads = reader.Int(fields.num_attention_heads, defaults.num_attention_heads, 1, kMaxHidden);
  config.intermediate_size = reader.Int(fields.intermediate_size, defaults.intermediate_size, 1, kMaxIntermediate);
  config.hidden_act = reader.ActivationOf(fields.hidden_act, Activation::kGelu);
  config.max_position_embeddings =
      reader.Int("max_position_embeddings", defaults.max_position_embeddings, 1, kMaxPositions);
  config.type_vocab_size = reader.Int("type_vocab_size", defaults.type_vocab_size, 0, kMaxTypes);
  config.layer_norm_eps = reader.Float("layer_norm_eps", defaults.layer_norm_eps, 0, 1);
  config.tie_word_embeddings = reader.Bool("tie_word_embeddings", true);
  config.embedding_size = config.hidden_size;
  if (!fields.embedding_size.empty()) {
    const int32_t fallback = defaults.embedding_size > 0 ? defaults.embedding_size : config.hidden_size;
    config.embedding_size = reader.Int(fields.embedding_size, fallback, 1, kMaxHidden);
  }
  config.max_tokens = config.max_position_embeddings;
  ReadLabels(reader, config);
  ReadLabelIds(reader, config);
  ReadProblemType(reader, config);
  return config;
}

void SetLabels(std::vector<std::string> id2label, ModelConfig* config) {
  config->id2label = std::move(id2label);
  config->nameless.clear();
  config->label2id.clear();
  for (int32_t i = 0; i < config->num_labels(); ++i) {
    config->label2id.emplace_back(config->id2label[static_cast<size_t>(i)], i);
  }
}

Result<std::string_view> LabelName(const ModelConfig& config, size_t label) {
  if (!std::binary_search(config.nameless.begin(), config.nameless.end(), static_cast<int32_t>(label))) {
    return std::string_view(config.id2label[label]);
  }
  return MalformedFile("config.json: id2label has no name for label " + std::to_string(label));
}

void RequireWholeHeads(ConfigReader& reader, const ModelConfig& config) {
  if (config.hidden_size % config.num_attention_heads == 0) return;
  reader.Refuse("num_attention_heads", "must divide hidden_size " + std::to_string(config.hidden_size));
}

}  // namespace peruse
