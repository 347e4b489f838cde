#include "core/families/transformer.h"

#include <array>
#include <cmath>
#include <optional>

#include "core/formats/quantize.h"
#include "core/heads/head_indices.h"

namespace peruse {

PositionType ReadPositionType(ConfigReader& reader) {
  const std::string type = reader.String("position_embedding_type", "absolute");
  if (type == "relative_key") return PositionType::kRelativeKey;
  if (type == "relative_key_query") return PositionType::kRelativeKeyQuery;
  if (type != "absolute") {
    reader.Fail(Unsupported("config.json: position_embedding_type \"" + type + "\" is not supported"));
  }
  return PositionType::kAbsolute;
}

SummaryConfig ReadSummary(ConfigReader& reader, std::string_view type, bool use_proj, Activation activation) {
  SummaryConfig summary;
  const std::string name = reader.String("summary_type", type);
  if (name == "first")
    summary.type = PooledHead::Pick::kFirst;
  else if (name == "mean")
    summary.type = PooledHead::Pick::kMean;
  else if (name == "last" || name == "cls_index")
    summary.type = PooledHead::Pick::kLast;
  else
    reader.Fail(Unsupported("config.json: summary_type \"" + name + "\" is not supported"));
  summary.use_proj = reader.Bool("summary_use_proj", use_proj);
  summary.proj_to_labels = reader.Bool("summary_proj_to_labels", false);
  const bool none = reader.IsNull("summary_activation") || reader.String("summary_activation", "gelu").empty();
  summary.activation = none ? Activation::kNone : reader.ActivationOf("summary_activation", activation);
  return summary;
}

Result<std::optional<PooledHead>> SummaryHead(const SummaryConfig& summary, const ModelConfig& config) {
  if (summary.use_proj && summary.proj_to_labels && config.num_labels() > 0 &&
      config.num_labels() != config.hidden_size) {
    return Unsupported("config.json: summary_proj_to_labels leaves " + std::to_string(config.num_labels()) +
                       " columns where the classifier needs " + std::to_string(config.hidden_size));
  }
  PooledHead head;
  head.pick = summary.type;
  if (summary.use_proj) head.transform.dense = "sequence_summary.summary";
  head.transform.activation = summary.activation;
  return std::optional(head);
}

std::vector<std::string> BiasNames(const ModelConfig& config, const char* head, const char* decoder) {
  return config.tie_word_embeddings ? std::vector<std::string>{head, decoder} : std::vector<std::string>{decoder, head};
}

PooledHead RobertaClassifier() {
  return {.transform = {.dense = "classifier.dense", .activation = Activation::kTanh},
          .classifier = "classifier.out_proj",
          .drops_row = true};
}

MaskedLmHead RobertaPredictions(const ModelConfig& config) {
  MaskedLmHead head;
  head.dense = {"lm_head.dense"};
  head.norm = {"lm_head.layer_norm"};
  head.activation = Activation::kGelu;
  head.decoder = {config.tie_word_embeddings ? "embeddings.word_embeddings.weight" : "lm_head.decoder.weight"};
  head.bias = BiasNames(config, "lm_head.bias", "lm_head.decoder.bias");
  return head;
}

MaskedLmHead GeneratorHead(const ModelConfig& config) {
  MaskedLmHead head;
  head.dense = {"generator_predictions.dense"};
  head.norm = {"generator_predictions.LayerNorm"};
  head.activation = Activation::kGelu;  // always exact gelu, regardless of hidden_act
  head.decoder = {config.tie_word_embeddings ? "embeddings.word_embeddings.weight" : "generator_lm_head.weight"};
  head.bias = {"generator_lm_head.bias"};
  return head;
}

MaskedLmHead BertPredictions(const ModelConfig& config) {
  MaskedLmHead head;
  head.dense = {"cls.predictions.transform.dense"};
  head.norm = {"cls.predictions.transform.LayerNorm"};
  head.activation = config.hidden_act;
  head.decoder = {config.tie_word_embeddings ? "embeddings.word_embeddings.weight" : "cls.predictions.decoder.weight"};
  head.bias = BiasNames(config, "cls.predictions.bias", "cls.predictions.decoder.bias");
  return head;
}

Value SumEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options) {
  const int32_t width = config.embedding_size;
  std::vector<ops::Embed::Lookup> lookups;
  const auto add = [&](const char* name, int32_t rows, const Index& index, bool words) {
    lookups.push_back({b.Table(name, rows, width, words), b.IndexOf(index)});
  };
  add(options.words, config.vocab_size, indices::TokenIds{}, true);
  if (options.positions) {
    add("embeddings.position_embeddings.weight", config.max_position_embeddings, options.position_index, false);
  }
  if (options.types && config.type_vocab_size > 0) {
    add("embeddings.token_type_embeddings.weight", config.type_vocab_size, indices::TokenTypes{}, false);
  }
  const Build::WordChanges& changes = b.word_changes();
  if (!changes.rows.valid() && changes.segments.empty()) return b.Embed(lookups, options.scale);
  PERUSE_CHECK(options.scale == 1);
  Value words = b.Embed({lookups[0]});
  if (changes.rows.valid()) {
    const Index places = indices::Positions{};
    words = b.Add(b.PoolRows(words, places, indices::IsLabel{.at = 0}, {}),
                  b.PoolRows(changes.rows, indices::LabelAt{}, indices::IsLabel{}, {}));
  }
  if (!changes.segments.empty()) {
    const TableId table = b.Table(changes.segments, changes.segment_count, width);
    words = b.Add(words, b.Embed({{table, b.IndexOf(indices::Segments{})}}));
  }
  if (lookups.size() == 1) return words;
  return b.Add(words, b.Embed({lookups.begin() + 1, lookups.end()}));
}

Value BertEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options) {
  const int32_t width = config.embedding_size;
  const Value sum = SumEmbeddings(b, config, options);
  Value x = b.Dropped(b.LayerNorm(sum, b.Norm("embeddings.LayerNorm", width, config.layer_norm_eps)));
  if (width != config.hidden_size) x = b.Linear(x, b.Stacked(width).Add("embeddings_project", config.hidden_size));
  b.Output({OutputKind::kHidden, 0}, x);
  return x;
}

namespace {

FeedForwardWeights DeclareFeedForward(Build& b, const ModelConfig& config, const FeedForwardNames& names,
                                      int32_t groups) {
  const int32_t hidden = config.hidden_size;
  const int32_t wide = config.intermediate_size;
  FeedForwardWeights weights;
  weights.intermediate = b.GroupedWeights(names.intermediate, hidden, wide, groups);
  // Values after the activation function lose most accuracy in 8 bits, and small models cannot spare it.
  weights.output = b.GroupedWeights(names.output, wide, hidden, groups, /*wide_input=*/wide / groups <= kNarrowDepth);
  weights.norm = b.Norm(names.norm, hidden, config.layer_norm_eps);
  return weights;
}

Value FeedForward(Build& b, const ModelConfig& config, const FeedForwardWeights& weights, Value x, bool drops) {
  const Value between = b.Activate(b.Linear(x, weights.intermediate), config.hidden_act);
  const Value down = b.Linear(between, weights.output);
  if (drops) b.Dropped(down);
  return b.LayerNorm(b.Add(down, x), weights.norm);
}

}  // namespace

Value FeedForward(Build& b, const ModelConfig& config, const FeedForwardNames& names, Value x, int32_t groups) {
  return FeedForward(b, config, DeclareFeedForward(b, config, names, groups), x, /*drops=*/true);
}

Value AttentionOutput(Build& b, const ModelConfig& config, const std::string& dense, const std::string& norm,
                      Value context, Value x) {
  const int32_t hidden = config.hidden_size;
  const Value projected = b.Dropped(b.Linear(context, b.Weights(dense, hidden, hidden)));
  return b.LayerNorm(b.Add(projected, x), b.Norm(norm, hidden, config.layer_norm_eps));
}

LayerNames BertLayer(int32_t layer) {
  const std::string name = LayerName(layer);
  const std::string self = name + "attention.self.";
  return {self + "query",
          self + "key",
          self + "value",
          name + "attention.output.dense",
          name + "attention.output.LayerNorm",
          {name + "intermediate.dense", name + "output.dense", name + "output.LayerNorm"}};
}

AttentionWeights DeclareAttention(Build& b, const ModelConfig& config, const LayerNames& names) {
  const int32_t hidden = config.hidden_size;
  AttentionWeights weights;
  weights.projection =
      b.Weights(b.Stacked(hidden).Add(names.query, hidden).Add(names.key, hidden).Add(names.value, hidden));
  weights.output = b.Weights(names.attention_output, hidden, hidden);
  weights.norm = b.Norm(names.attention_norm, hidden, config.layer_norm_eps);
  weights.drops = names.drops_attention;
  return weights;
}

LayerWeights DeclareLayer(Build& b, const ModelConfig& config, const LayerNames& names) {
  LayerWeights weights;
  weights.attention = DeclareAttention(b, config, names);
  weights.feed_forward = DeclareFeedForward(b, config, names.feed_forward, /*groups=*/1);
  weights.drops_feed_forward = names.drops_feed_forward;
  return weights;
}

Value SelfAttention(Build& b, const ModelConfig& config, const AttentionWeights& weights,
                    const RelativePositions& positions, int32_t layer, Value x) {
  const int32_t hidden = config.hidden_size;
  const int32_t heads = config.num_attention_heads;
  auto [query, key, value] = b.Split<3>(b.Linear(x, weights.projection));
  if (weights.query_norm) query = b.LayerNorm(query, *weights.query_norm);
  if (weights.key_norm) key = b.LayerNorm(key, *weights.key_norm);
  ops::Attention attention = {.query = query, .key = key, .value = value, .heads = heads};
  attention.scale = 1.0f / std::sqrt(static_cast<float>(hidden / heads));
  attention.position_bias = positions.bias;
  attention.slots = positions.slots;
  if (positions.type != PositionType::kAbsolute) {
    // Position types of BERT: relative_key adds query . distance to the scores; relative_key_query also adds key . distance. All heads
    // share a table.
    const int32_t distances = 2 * config.max_position_embeddings - 1;
    const Value table =
        b.TiledConstant(LayerName(layer) + "attention.self.distance_embedding.weight", distances, hidden, heads);
    attention.position_key = table;
    if (positions.type == PositionType::kRelativeKeyQuery) attention.position_query = table;
    attention.slots = b.IndexOf(indices::Slots{.rows = distances, .offset = config.max_position_embeddings - 1});
  }
  const auto [context, probabilities] = b.Attention(attention);
  b.Output({OutputKind::kAttention, layer}, probabilities);
  const Value attended = b.Linear(MaskHeads(b, layer, context), weights.output);
  if (weights.drops) b.Dropped(attended);
  return b.LayerNorm(b.Add(attended, x), weights.norm);
}

Value EncoderLayer(Build& b, const ModelConfig& config, const LayerWeights& weights, const RelativePositions& positions,
                   int32_t layer, Value x) {
  x = SelfAttention(b, config, weights.attention, positions, layer, x);
  x = FeedForward(b, config, weights.feed_forward, x, weights.drops_feed_forward);
  b.Output({OutputKind::kHidden, layer + 1}, x);
  return x;
}

Value BertEncoder(Build& b, const ModelConfig& config, const RelativePositions& positions, Value x,
                  LayerNames (*names)(int32_t layer)) {
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    x = EncoderLayer(b, config, DeclareLayer(b, config, names(i)), positions, i, x);
  }
  return x;
}

}  // namespace peruse
