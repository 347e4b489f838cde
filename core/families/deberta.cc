// DeBERTa v1, v2 and v3 (He et al., 2020 and 2021; transformers' DebertaModel and DebertaV2Model). The versions differ in the layout of the
// projections, in the relative table (v2: normalised, log buckets) and in a convolution parallel to the first layer.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/families/family.h"
#include "core/families/transformer.h"
#include "core/formats/quantize.h"
#include "core/program/token_indices.h"

namespace peruse {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

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

// pos_att_type is null, a string with bars, or a list.
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

class Deberta : public Family {
 public:
  explicit Deberta(bool v1) : v1_(v1) {}

  ConfigDefaults defaults() const override {
    if (v1_) return {.vocab_size = 50265, .type_vocab_size = 0, .layer_norm_eps = 1e-7f};
    return {.vocab_size = 128100,
            .hidden_size = 1536,
            .num_hidden_layers = 24,
            .num_attention_heads = 24,
            .intermediate_size = 6144,
            .type_vocab_size = 0,
            .layer_norm_eps = 1e-7f};
  }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"deberta.", "bert."}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return Layers(b, config, false); }
  Result<Value> EncodeForMaskDecoder(Build& b, ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig&) const override {
    return {.transform = {.dense = "pooler.dense", .activation = pooler_hidden_act_}};
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override;
  Pretraining pretraining() const override { return {.disentangled = true}; }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig& config) const override {
    return v1_ ? std::nullopt : std::optional(SequenceClassifier(config));
  }
  std::optional<DiscriminatorHead> Discriminator(const ModelConfig& config) const override;

 private:
  void ReadV2(ConfigReader& reader, ModelConfig& config);

  bool has_c2p() const { return relative_attention_ && content_to_position_; }
  bool has_p2c() const { return relative_attention_ && position_to_content_; }
  bool has_relative() const { return has_c2p() || has_p2c(); }
  // Number of rows of the relative table on either side of distance zero.
  int32_t table_span() const { return position_buckets_ > 0 ? position_buckets_ : max_relative_positions_; }

  // Parameters of a layer's attention. The mask decoder applies those of the last layer twice.
  struct Projections {
    LinearId query_key_value;
    Value position_key;    // [slots, hidden], only if pos_att_type contains c2p
    Value position_query;  // [slots, hidden], only if pos_att_type contains p2c
    LinearId output;
    NormArgs norm;
  };
  struct FeedForwardWeights {
    LinearId intermediate;
    LinearId output;
    NormArgs norm;
  };
  struct Layer {
    Projections attention;
    FeedForwardWeights feed_forward;
  };
  Value Embeddings(Build& b, const ModelConfig& config) const;
  Layer DeclareLayer(Build& b, const ModelConfig& config, int32_t index, Value table) const;
  void DeclarePositions(Build& b, const ModelConfig& config, const std::string& self, Value table,
                        Projections& layer) const;
  Value Attention(Build& b, const ModelConfig& config, const Projections& layer, int32_t index, Value queries_from,
                  Value keys_from) const;
  Value Apply(Build& b, const ModelConfig& config, const Layer& layer, int32_t index, Value queries_from,
              Value keys_from) const;
  Value Convolution(Build& b, const ModelConfig& config, Value x, Value layer_output) const;
  Value Layers(Build& b, const ModelConfig& config, bool mask_decoder) const;

  const bool v1_;
  bool relative_attention_ = false;
  bool content_to_position_ = false;  // "c2p" in pos_att_type
  bool position_to_content_ = false;  // "p2c" in pos_att_type
  int64_t pos_att_types_ = 0;  // number of items in pos_att_type, including unknown ones (v1 counts them in its scale)
  int32_t max_relative_positions_ = 512;
  bool position_biased_input_ = true;
  int32_t head_dim_ = 0;
  Activation pooler_hidden_act_ = Activation::kGelu;
  bool legacy_ = true;  // field `legacy`: selects the layout of the masked-LM head

  // The fields below only exist in v2 and v3.
  int32_t position_buckets_ = -1;  // < 1 means exact distances
  bool norm_rel_ebd_ = false;
  bool share_att_key_ = false;
  // Peruse's own field peruse_position_tables: the checkpoint has each layer's position keys and queries instead of rel_embeddings.
  bool position_tables_ = false;
  int32_t conv_kernel_size_ = 0;  // 0 means no convolution layer
  int32_t conv_groups_ = 1;
  Activation conv_act_ = Activation::kTanh;
};

void Deberta::Read(ConfigReader& reader, ModelConfig& config) {
  relative_attention_ = reader.Bool("relative_attention", false);
  const std::vector<std::string> pos_att_type = ReadPosAttType(reader);
  pos_att_types_ = static_cast<int64_t>(pos_att_type.size());
  content_to_position_ = Contains(pos_att_type, "c2p");
  position_to_content_ = Contains(pos_att_type, "p2c");
  max_relative_positions_ = reader.Int("max_relative_positions", -1, -kMaxPositions, kMaxPositions);
  if (max_relative_positions_ < 1) max_relative_positions_ = config.max_position_embeddings;
  position_biased_input_ = reader.Bool("position_biased_input", true);
  const int32_t pooler_hidden_size = reader.Int("pooler_hidden_size", config.hidden_size, 1, kMaxHidden);
  if (pooler_hidden_size != config.hidden_size) {
    reader.Refuse("pooler_hidden_size", "must equal hidden_size " + std::to_string(config.hidden_size));
  }
  pooler_hidden_act_ = reader.ActivationOf("pooler_hidden_act", Activation::kGelu);
  legacy_ = reader.Bool("legacy", true);
  config.max_tokens = position_biased_input_ ? config.max_position_embeddings : ModelConfig::kUnlimited;
  if (!v1_) return ReadV2(reader, config);

  RequireWholeHeads(reader, config);
  head_dim_ = config.hidden_size / config.num_attention_heads;
  if (reader.Bool("talking_head", false)) {
    reader.Fail(Unsupported("config.json: talking_head attention is not supported (no released checkpoint has it)"));
  }
}

void Deberta::ReadV2(ConfigReader& reader, ModelConfig& config) {
  head_dim_ = reader.Int("attention_head_size", config.hidden_size / config.num_attention_heads, 1, kMaxHidden);
  if (int64_t{head_dim_} * config.num_attention_heads != config.hidden_size) {
    reader.Fail(MalformedFile("config.json: num_attention_heads " + std::to_string(config.num_attention_heads) +
                              " of size " + std::to_string(head_dim_) + " do not make up hidden_size " +
                              std::to_string(config.hidden_size)));
  }
  position_buckets_ = reader.Int("position_buckets", -1, -1, kMaxPositions);
  norm_rel_ebd_ = Contains(SplitBars(reader.String("norm_rel_ebd", "none")), "layer_norm");
  share_att_key_ = reader.Bool("share_att_key", false);
  position_tables_ = reader.Bool("peruse_position_tables", false);
  conv_kernel_size_ = reader.Int("conv_kernel_size", 0, 0, kMaxKernel);
  if (conv_kernel_size_ > 0) {
    if (conv_kernel_size_ % 2 == 0) reader.Refuse("conv_kernel_size", "must be odd");
    conv_groups_ = reader.Int("conv_groups", 1, 1, kMaxHidden);
    if (config.hidden_size % conv_groups_ != 0) reader.Refuse("conv_groups", "must divide hidden_size");
    conv_act_ = reader.ActivationOf("conv_act", Activation::kTanh);
  }
  // transformers' make_log_bucket_position would divide by zero, with machine-dependent results.
  const int32_t mid = position_buckets_ / 2;
  if (has_relative() && position_buckets_ > 0 && (mid == 0 || max_relative_positions_ - 1 == mid)) {
    reader.Fail(Unsupported("config.json: max_relative_positions " + std::to_string(max_relative_positions_) +
                            " with position_buckets " + std::to_string(position_buckets_) +
                            " is not supported: the buckets have no logarithm"));
  }
}

// transformers: DebertaEmbeddings, where the norm follows the projection.
Value Deberta::Embeddings(Build& b, const ModelConfig& config) const {
  const int32_t width = config.embedding_size;
  const int32_t hidden = config.hidden_size;
  Value x = SumEmbeddings(b, config, {.positions = position_biased_input_});
  if (width != hidden) {
    x = b.Linear(x, b.Stacked(width).AddWeight({"embeddings.embed_proj.weight"}, {hidden, width}, hidden));
  }
  x = b.Dropped(b.LayerNorm(x, b.Norm("embeddings.LayerNorm", hidden, config.layer_norm_eps)));
  b.Output({OutputKind::kHidden, 0}, x);
  return x;
}

// pos_key_layer and pos_query_layer of transformers' disentangled_attention_bias are constant projections of the relative table.
void Deberta::DeclarePositions(Build& b, const ModelConfig& config, const std::string& self, Value table,
                               Projections& layer) const {
  const int32_t hidden = config.hidden_size;
  if (position_tables_) {
    const int32_t rows = 2 * table_span();
    if (has_c2p()) layer.position_key = b.Constant(self + "position_keys", rows, hidden);
    if (has_p2c()) layer.position_query = b.Constant(self + "position_queries", rows, hidden);
    return;
  }
  if (!v1_ && share_att_key_) {
    const auto [query, key, value] = b.Split<3>(b.Linear(table, layer.query_key_value));
    if (has_c2p()) layer.position_key = key;
    if (has_p2c()) layer.position_query = query;
    return;
  }
  Stack stack = b.StackedF32(hidden);
  if (has_c2p() && v1_) stack.AddWeight({self + "pos_proj.weight"}, {hidden, hidden}, hidden);
  if (has_c2p() && !v1_) stack.Add(self + "pos_key_proj", hidden);
  if (has_p2c()) stack.Add(self + (v1_ ? "pos_q_proj" : "pos_query_proj"), hidden);
  const Value projected = b.Linear(table, stack);
  if (has_c2p()) layer.position_key = b.Columns(projected, 0, hidden);
  if (has_p2c()) layer.position_query = b.Columns(projected, has_c2p() ? hidden : 0, hidden);
}

Deberta::Layer Deberta::DeclareLayer(Build& b, const ModelConfig& config, int32_t index, Value table) const {
  const int32_t hidden = config.hidden_size;
  const std::string name = LayerName(index);
  const std::string self = name + "attention.self.";
  Layer layer;
  Stack stack = b.Stacked(hidden);
  if (v1_) {
    // One matrix with rows ordered by head, then query, key, value; keys do not have a bias.
    stack.AddInterleaved(self + "in_proj.weight", config.num_attention_heads, 3, head_dim_)
        .AddBias({self + "q_bias"}, {hidden}, 0)
        .AddBias({self + "v_bias"}, {hidden}, 2 * hidden);
  } else {
    stack.Add(self + "query_proj", hidden).Add(self + "key_proj", hidden).Add(self + "value_proj", hidden);
  }
  layer.attention.query_key_value = b.Weights(stack);
  if (has_relative()) DeclarePositions(b, config, self, table, layer.attention);
  layer.attention.output = b.Weights(name + "attention.output.dense", hidden, hidden);
  layer.attention.norm = b.Norm(name + "attention.output.LayerNorm", hidden, config.layer_norm_eps);
  layer.feed_forward = {b.Weights(name + "intermediate.dense", hidden, config.intermediate_size),
                        b.GroupedWeights(name + "output.dense", config.intermediate_size, hidden, 1,
                                         /*wide_input=*/config.intermediate_size <= kNarrowDepth),
                        b.Norm(name + "output.LayerNorm", hidden, config.layer_norm_eps)};
  return layer;
}

// transformers: DisentangledSelfAttention and DebertaSelfOutput.
Value Deberta::Attention(Build& b, const ModelConfig& config, const Projections& layer, int32_t index,
                         Value queries_from, Value keys_from) const {
  const auto [own_query, key, value] = b.Split<3>(b.Linear(keys_from, layer.query_key_value));
  Value query = own_query;
  if (queries_from != keys_from) query = b.Split<3>(b.Linear(queries_from, layer.query_key_value))[0];
  // Each kind of attention score enlarges the scale; v1 counts unknown items of pos_att_type, too.
  const int64_t kinds = v1_ ? 1 + pos_att_types_ : 1 + (content_to_position_ ? 1 : 0) + (position_to_content_ ? 1 : 0);
  ops::Attention attention = {.query = query, .key = key, .value = value, .heads = config.num_attention_heads};
  attention.scale = 1.0f / std::sqrt(static_cast<float>(head_dim_ * kinds));
  if (has_relative()) {
    attention.position_key = layer.position_key;
    attention.position_query = layer.position_query;
    const bool buckets = position_buckets_ > 0;
    attention.slots = b.IndexOf(indices::Slots{
        .rows = 2 * table_span(),
        .offset = table_span(),
        .kind = buckets ? indices::Slots::Buckets::kLog : indices::Slots::Buckets::kNone,
        .buckets = buckets ? position_buckets_ : 0,
        .max_position = buckets ? max_relative_positions_ : 0,
    });
  }
  const auto [context, probabilities] = b.Attention(attention);
  b.Output({OutputKind::kAttention, index}, probabilities);
  // Named, so that core/model/attention_maps.h can show them.
  b.Output({OutputKind::kQuery, index}, query);
  b.Output({OutputKind::kKey, index}, key);
  const auto table_output = [&](OutputKind kind, Value table) {
    if (!table.valid()) return;
    b.Output({kind, index}, b.SelectRows(table, indices::AllRows{2 * table_span()}));
  };
  table_output(OutputKind::kPositionKey, attention.position_key);
  table_output(OutputKind::kPositionQuery, attention.position_query);
  const Value projected = b.Dropped(b.Linear(MaskHeads(b, index, context), layer.output));
  return b.LayerNorm(b.Add(projected, queries_from), layer.norm);
}

// Corresponds to transformers' DebertaLayer.
Value Deberta::Apply(Build& b, const ModelConfig& config, const Layer& layer, int32_t index, Value queries_from,
                     Value keys_from) const {
  const Value attended = Attention(b, config, layer.attention, index, queries_from, keys_from);
  const FeedForwardWeights& weights = layer.feed_forward;
  const Value between = b.Activate(b.Linear(attended, weights.intermediate), config.hidden_act);
  const Value down = b.Dropped(b.Linear(between, weights.output));
  return b.LayerNorm(b.Add(down, attended), weights.norm);
}

// Corresponds to transformers' ConvLayer: norm(layer(x) + act(conv(x))).
Value Deberta::Convolution(Build& b, const ModelConfig& config, Value x, Value layer_output) const {
  const int32_t hidden = config.hidden_size;
  const LinearId weight = b.Conv1dWeights("encoder.conv.conv", hidden, hidden, conv_groups_, conv_kernel_size_);
  const Value convolved = b.Activate(b.Dropped(b.Conv1d(x, weight, conv_kernel_size_)), conv_act_);
  return b.LayerNorm(b.Add(layer_output, convolved), b.Norm("encoder.conv.LayerNorm", hidden, config.layer_norm_eps));
}

// mask_decoder: the last layer runs twice, with queries from absolute positions, as in the original code's EnhancedMaskDecoder.
Value Deberta::Layers(Build& b, const ModelConfig& config, bool mask_decoder) const {
  const int32_t hidden = config.hidden_size;
  Value x = Embeddings(b, config);
  Value table;
  if (has_relative() && !position_tables_) {
    table = b.Constant("encoder.rel_embeddings.weight", 2 * table_span(), hidden);
    if (norm_rel_ebd_) table = b.LayerNorm(table, b.Norm("encoder.LayerNorm", hidden, config.layer_norm_eps));
  }
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const Layer layer = DeclareLayer(b, config, i, table);
    if (mask_decoder && i + 1 == config.num_hidden_layers) {
      const Value positions =
          b.SelectRows(b.Constant("embeddings.position_embeddings.weight", config.max_position_embeddings, hidden),
                       indices::Positions{});
      const Value once = Apply(b, config, layer, i, b.Add(positions, x), x);
      x = Apply(b, config, layer, i + 1, once, x);
    } else {
      const Value output = Apply(b, config, layer, i, x, x);
      x = i == 0 && conv_kernel_size_ > 0 ? Convolution(b, config, x, output) : output;
    }
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

Result<Value> Deberta::EncodeForMaskDecoder(Build& b, ModelConfig& config) const {
  if (config.num_hidden_layers < 2 || config.embedding_size != config.hidden_size) {
    return Unsupported("the enhanced mask decoder needs two layers and embedding_size equal to hidden_size");
  }
  config.max_tokens = std::min(config.max_tokens, config.max_position_embeddings);
  // If the embeddings include absolute positions, the mask decoder is the ordinary last layer.
  return Layers(b, config, !position_biased_input_);
}

// Official checkpoints only have the original code's layout (lm_predictions), regardless of `legacy`.
MaskedLmHead Deberta::MaskedLm(const ModelConfig& config) const {
  MaskedLmHead head = BertPredictions(config);
  const auto also = [&](std::vector<std::string>& names, const char* original) {
    names.insert(legacy_ ? names.end() : names.begin(), original);
  };
  also(head.dense, "lm_predictions.lm_head.dense");
  also(head.norm, "lm_predictions.lm_head.LayerNorm");
  also(head.decoder, "embeddings.word_embeddings.weight");
  also(head.bias, "lm_predictions.lm_head.bias");
  return head;
}

// The original DeBERTa code calls the discriminator mask_predictions.
std::optional<DiscriminatorHead> Deberta::Discriminator(const ModelConfig& config) const {
  if (v1_) return std::nullopt;
  return DiscriminatorHead{.norm = "mask_predictions.LayerNorm",
                           .dense = "mask_predictions.dense",
                           .classifier = "mask_predictions.classifier",
                           .activation = config.hidden_act};
}

}  // namespace

std::unique_ptr<Family> CreateDebertaV1() { return std::make_unique<Deberta>(true); }
std::unique_ptr<Family> CreateDebertaV2() { return std::make_unique<Deberta>(false); }

}  // namespace peruse
