#include "core/models/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/json.h"
#include "core/models/config_reader.h"

namespace peruse {
namespace {

// Generous bounds that keep every product of two sizes within 32 bits.
constexpr int32_t kMaxVocabulary = 1 << 24;
constexpr int32_t kMaxHidden = 1 << 14;
constexpr int32_t kMaxIntermediate = 1 << 16;
constexpr int32_t kMaxLayers = 1 << 10;
constexpr int32_t kMaxPositions = 1 << 20;
constexpr int32_t kMaxTypes = 1 << 16;
constexpr int32_t kMaxLabels = 1 << 16;
constexpr int32_t kMaxKernel = 1 << 10;

// Defaults that differ between the families.
struct Defaults {
  Architecture architecture;
  int32_t vocab_size;
  int32_t hidden_size;
  int32_t embedding_size;  // 0: as hidden_size
  int32_t num_hidden_layers;
  int32_t num_attention_heads;
  int32_t intermediate_size;
  int32_t type_vocab_size;
  float layer_norm_eps;
};

constexpr Defaults kBert = {Architecture::kBert, 30522, 768, 0, 12, 12, 3072, 2, 1e-12f};
constexpr Defaults kElectra = {Architecture::kElectra, 30522, 256, 128, 12, 4, 1024, 2, 1e-12f};
constexpr Defaults kConvBert = {Architecture::kConvBert, 30522, 768, 768, 12, 12, 3072, 2, 1e-12f};
constexpr Defaults kDeberta = {Architecture::kDeberta, 50265, 768, 0, 12, 12, 3072, 0, 1e-7f};
constexpr Defaults kDebertaV2 = {Architecture::kDebertaV2, 128100, 1536, 0, 24, 24, 6144, 0, 1e-7f};

constexpr Defaults kLightConv = {Architecture::kLightConv, 30522, 768, 768, 12, 12, 3072, 2, 1e-12f};
constexpr Defaults kDynamicConv = {Architecture::kDynamicConv, 30522, 768, 768, 12, 12, 3072, 2, 1e-12f};

const Defaults* FindDefaults(std::string_view model_type) {
  if (model_type == "bert") return &kBert;
  if (model_type == "electra") return &kElectra;
  if (model_type == "convbert" || model_type == "conv_bert") return &kConvBert;
  if (model_type == "deberta") return &kDeberta;
  if (model_type == "deberta-v2") return &kDebertaV2;
  if (model_type == "lightconv") return &kLightConv;
  if (model_type == "dynamicconv") return &kDynamicConv;
  return nullptr;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// "C2P | p2c" -> {"c2p", "p2c"}
std::vector<std::string> SplitBars(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= lower.size();) {
    const size_t end = std::min(lower.find('|', begin), lower.size());
    parts.emplace_back(Trim(std::string_view(lower).substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

// pos_att_type: null, a string with bars, or a list.
std::vector<std::string> ReadPosAttType(ConfigReader& reader) {
  const JsonValue value = reader.Field("pos_att_type");
  if (const std::optional<std::string_view> text = value.GetString()) return SplitBars(*text);
  std::vector<std::string> items;
  if (!value.exists()) return items;
  bool readable = value.IsArray();
  for (const JsonValue item : value) {
    if (const auto text = item.GetString()) {
      items.emplace_back(*text);
    } else {
      readable = false;
    }
  }
  if (!readable) reader.Refuse("pos_att_type", "must be a string or a list of strings");
  return items;
}

bool Contains(const std::vector<std::string>& items, std::string_view item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

void ReadLabels(ConfigReader& reader, ModelConfig& config) {
  const JsonValue labels = reader.Field("id2label");
  const bool named = labels.IsObject() && labels.size() > 0;
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

  std::vector<bool> seen(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    const std::string_view key = labels.MemberName(static_cast<size_t>(i));
    const auto name = labels.MemberValue(static_cast<size_t>(i)).GetString();
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const bool numbered = error == std::errc() && end == key.data() + key.size() && id >= 0 && id < count;
    if (!numbered || !name || seen[static_cast<size_t>(id)]) {
      reader.Refuse("id2label", "must give a name to each of 0, 1, ...");
      return;
    }
    seen[static_cast<size_t>(id)] = true;
    config.id2label[static_cast<size_t>(id)] = std::string(*name);
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
    reader.Refuse("problem_type", "which is none of transformers' three");
}

void ReadCommon(ConfigReader& reader, const Defaults& defaults, ModelConfig& config) {
  config.architecture = defaults.architecture;
  config.int8_weights = reader.Field("quantization_config").FindMember("quant_method").GetString() == "peruse-q8";
  if (const auto name = reader.Field("architectures")[0].GetString()) config.architecture_class = std::string(*name);
  config.vocab_size = reader.Int("vocab_size", defaults.vocab_size, 1, kMaxVocabulary);
  config.hidden_size = reader.Int("hidden_size", defaults.hidden_size, 1, kMaxHidden);
  config.num_hidden_layers = reader.Int("num_hidden_layers", defaults.num_hidden_layers, 1, kMaxLayers);
  config.num_attention_heads = reader.Int("num_attention_heads", defaults.num_attention_heads, 1, kMaxHidden);
  config.intermediate_size = reader.Int("intermediate_size", defaults.intermediate_size, 1, kMaxIntermediate);
  config.hidden_act = reader.ActivationOf("hidden_act", Activation::kGelu);
  config.max_position_embeddings = reader.Int("max_position_embeddings", 512, 1, kMaxPositions);
  config.type_vocab_size = reader.Int("type_vocab_size", defaults.type_vocab_size, 0, kMaxTypes);
  config.layer_norm_eps = reader.Float("layer_norm_eps", defaults.layer_norm_eps, 0, 1);
  config.tie_word_embeddings = reader.Bool("tie_word_embeddings", true);
  config.embedding_size = config.hidden_size;
  if (defaults.architecture != Architecture::kBert) {
    const int32_t fallback = defaults.embedding_size > 0 ? defaults.embedding_size : config.hidden_size;
    config.embedding_size = reader.Int("embedding_size", fallback, 1, kMaxHidden);
  }
  config.max_tokens = config.max_position_embeddings;
  ReadLabels(reader, config);
  ReadProblemType(reader, config);
}

void RequireWholeHeads(ConfigReader& reader, const ModelConfig& config) {
  if (config.hidden_size % config.num_attention_heads == 0) return;
  reader.Refuse("num_attention_heads", "must divide hidden_size " + std::to_string(config.hidden_size));
}

void ReadPositionType(ConfigReader& reader, ModelConfig& config) {
  const std::string type = reader.String("position_embedding_type", "absolute");
  if (type == "absolute")
    config.position_type = PositionType::kAbsolute;
  else if (type == "relative_key")
    config.position_type = PositionType::kRelativeKey;
  else if (type == "relative_key_query")
    config.position_type = PositionType::kRelativeKeyQuery;
  else
    reader.Fail(Unsupported("config.json: position_embedding_type \"" + type + "\" is not supported"));
}

// Spec: convbert.md section 1. Type and projection are transformers' SequenceSummary.
void ReadSummary(ConfigReader& reader, std::string_view type, bool use_proj, Activation activation,
                 ModelConfig& config) {
  SummaryConfig& summary = config.summary;
  const std::string name = reader.String("summary_type", type);
  if (name == "first")
    summary.type = SummaryConfig::Type::kFirst;
  else if (name == "mean")
    summary.type = SummaryConfig::Type::kMean;
  else if (name == "last" || name == "cls_index")
    summary.type = SummaryConfig::Type::kLast;
  else
    reader.Fail(Unsupported("config.json: summary_type \"" + name + "\" is not supported"));
  summary.use_proj = reader.Bool("summary_use_proj", use_proj);
  summary.proj_to_labels = reader.Bool("summary_proj_to_labels", false);
  const bool none = reader.IsNull("summary_activation") || reader.String("summary_activation", "gelu").empty();
  summary.activation = none ? Activation::kNone : reader.ActivationOf("summary_activation", activation);
}

// Spec: convbert.md section 1, derived dimensions.
void ReadConvBert(ConfigReader& reader, ModelConfig& config) {
  ConvBertConfig& conv = config.convbert;
  conv.conv_kernel_size = reader.Int("conv_kernel_size", 9, 1, kMaxKernel);
  if (conv.conv_kernel_size % 2 == 0) reader.Refuse("conv_kernel_size", "must be odd");
  conv.num_groups = reader.Int("num_groups", 1, 1, kMaxHidden);
  if (config.hidden_size % conv.num_groups != 0 || config.intermediate_size % conv.num_groups != 0) {
    reader.Refuse("num_groups", "must divide hidden_size and intermediate_size");
  }
  const int32_t head_ratio = reader.Int("head_ratio", 2, 1, kMaxHidden);
  conv.heads = std::max(1, config.num_attention_heads / head_ratio);
  conv.head_dim = config.hidden_size / conv.heads / 2;
  if (config.hidden_size % conv.heads != 0 || 2 * conv.heads * conv.head_dim != config.hidden_size) {
    reader.Fail(MalformedFile("config.json: hidden_size " + std::to_string(config.hidden_size) +
                              " cannot be halved over " + std::to_string(conv.heads) +
                              " heads (num_attention_heads / head_ratio)"));
  }
  ReadSummary(reader, "last", false, Activation::kNone, config);
}

// conv_kernel_size: one width for all layers, or a list with one for each.
void ReadLightConv(ConfigReader& reader, ModelConfig& config) {
  constexpr std::string_view kField = "conv_kernel_size";
  const size_t layers = static_cast<size_t>(config.num_hidden_layers);
  std::vector<int32_t>& sizes = config.lightconv.conv_kernel_sizes;
  const JsonValue list = reader.Field(kField);
  if (!list.IsArray()) {
    sizes.assign(layers, reader.Int(kField, 9, 1, kMaxKernel));
  } else if (list.size() == layers) {
    for (const JsonValue item : list) {
      const int64_t size = item.GetInt64().value_or(0);
      sizes.push_back(size >= 1 && size <= kMaxKernel ? static_cast<int32_t>(size) : 0);
    }
  }
  const auto odd = [](int32_t size) { return size % 2 == 1; };
  if (sizes.size() != layers || !std::all_of(sizes.begin(), sizes.end(), odd)) {
    reader.Refuse(kField, "must be odd, or a list of as many odd numbers as there are layers");
  }
}

// Distances that position_buckets cannot place: transformers' formula needs max_relative_positions - 1 > buckets / 2.
int32_t LongestWithBuckets(const DebertaConfig& deberta) {
  const int32_t mid = deberta.position_buckets / 2;
  const bool usable = mid >= 1 && deberta.max_relative_positions - 1 > mid;
  return usable ? ModelConfig::kUnlimited : mid + 1;
}

void ReadDeberta(ConfigReader& reader, ModelConfig& config) {
  DebertaConfig& deberta = config.deberta;
  const bool v1 = config.architecture == Architecture::kDeberta;
  deberta.relative_attention = reader.Bool("relative_attention", false);
  const std::vector<std::string> pos_att_type = ReadPosAttType(reader);
  deberta.pos_att_types = static_cast<int32_t>(pos_att_type.size());
  deberta.content_to_position = Contains(pos_att_type, "c2p");
  deberta.position_to_content = Contains(pos_att_type, "p2c");
  deberta.max_relative_positions = reader.Int("max_relative_positions", -1, -kMaxPositions, kMaxPositions);
  if (deberta.max_relative_positions < 1) deberta.max_relative_positions = config.max_position_embeddings;
  deberta.position_biased_input = reader.Bool("position_biased_input", true);
  deberta.pooler_hidden_size = reader.Int("pooler_hidden_size", config.hidden_size, 1, kMaxHidden);
  if (deberta.pooler_hidden_size != config.hidden_size) {
    reader.Refuse("pooler_hidden_size", "must equal hidden_size " + std::to_string(config.hidden_size));
  }
  deberta.pooler_hidden_act = reader.ActivationOf("pooler_hidden_act", Activation::kGelu);
  deberta.legacy = reader.Bool("legacy", true);
  config.max_tokens = deberta.position_biased_input ? config.max_position_embeddings : ModelConfig::kUnlimited;

  if (v1) {
    RequireWholeHeads(reader, config);
    deberta.head_dim = config.hidden_size / config.num_attention_heads;
    if (reader.Bool("talking_head", false)) {
      reader.Fail(Unsupported("config.json: talking_head attention is not supported (no released checkpoint has it)"));
    }
    return;
  }
  deberta.head_dim = reader.Int("attention_head_size", config.hidden_size / config.num_attention_heads, 1, kMaxHidden);
  if (int64_t{deberta.head_dim} * config.num_attention_heads != config.hidden_size) {
    reader.Fail(MalformedFile("config.json: num_attention_heads " + std::to_string(config.num_attention_heads) +
                              " of size " + std::to_string(deberta.head_dim) + " do not make up hidden_size " +
                              std::to_string(config.hidden_size)));
  }
  deberta.position_buckets = reader.Int("position_buckets", -1, -1, kMaxPositions);
  deberta.norm_rel_ebd = Contains(SplitBars(reader.String("norm_rel_ebd", "none")), "layer_norm");
  deberta.share_att_key = reader.Bool("share_att_key", false);
  deberta.conv_kernel_size = reader.Int("conv_kernel_size", 0, 0, kMaxKernel);
  if (deberta.conv_kernel_size > 0) {
    if (deberta.conv_kernel_size % 2 == 0) reader.Refuse("conv_kernel_size", "must be odd");
    deberta.conv_groups = reader.Int("conv_groups", 1, 1, kMaxHidden);
    if (config.hidden_size % deberta.conv_groups != 0) reader.Refuse("conv_groups", "must divide hidden_size");
    deberta.conv_act = reader.ActivationOf("conv_act", Activation::kTanh);
  }
  if (deberta.relative_attention && deberta.position_buckets > 0) {
    config.max_tokens = std::min(config.max_tokens, LongestWithBuckets(deberta));
  }
}

}  // namespace

std::string_view HeadName(Head head) {
  switch (head) {
    case Head::kNone:
      return "no head";
    case Head::kSequenceClassification:
      return "sequence classification";
    case Head::kTokenClassification:
      return "token classification";
    case Head::kQuestionAnswering:
      return "question answering";
    case Head::kMaskedLm:
      return "masked language modelling";
    case Head::kMultipleChoice:
      return "multiple choice";
    case Head::kReplacedTokenDetection:
      return "replaced-token detection";
  }
  return "";
}

Result<ModelConfig> ParseModelConfig(std::string_view json) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json, "config.json"));
  if (!document.root().IsObject()) return MalformedFile("config.json is not an object");
  ConfigReader reader(document.root());

  ModelConfig config;
  config.model_type = reader.String("model_type", "");
  PERUSE_RETURN_IF_ERROR(reader.status());
  if (config.model_type.empty()) return MalformedFile("config.json has no model_type");
  const Defaults* defaults = FindDefaults(config.model_type);
  if (!defaults) {
    return Unsupported(
        "config.json: model_type \"" + config.model_type +
        "\" is not supported; convbert, deberta, deberta-v2, bert, electra, lightconv and dynamicconv are");
  }

  ReadCommon(reader, *defaults, config);
  switch (config.architecture) {
    case Architecture::kBert:
      RequireWholeHeads(reader, config);
      ReadPositionType(reader, config);
      break;
    case Architecture::kElectra:
      RequireWholeHeads(reader, config);
      ReadPositionType(reader, config);
      ReadSummary(reader, "first", true, Activation::kGelu, config);
      break;
    case Architecture::kConvBert:
      ReadConvBert(reader, config);
      break;
    case Architecture::kLightConv:
    case Architecture::kDynamicConv:
      RequireWholeHeads(reader, config);
      ReadLightConv(reader, config);
      break;
    case Architecture::kDeberta:
    case Architecture::kDebertaV2:
      ReadDeberta(reader, config);
      break;
  }
  PERUSE_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace peruse
