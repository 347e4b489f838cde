// Jina's BERT (Günther et al., 2023), of jina-embeddings-v2 and jina-reranker-v1: BERT with linear biases of attention (ALiBi) in place of
// position embeddings, and gated feed-forward layers. Reference: JinaBertModel of jinaai/jina-bert-implementation, and of
// jinaai/jina-bert-v2-qk-post-norm, which also norms queries and keys.
#include "core/families/family.h"
#include "core/families/rotary.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

// Keeps the table of biases below 256 MB.
constexpr int64_t kMostBiases = int64_t{1} << 25;

class JinaBert : public Family {
 public:
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"bert."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig&) const override { return TanhPooler(); }
  bool PoolerIsOfEncoder() const override { return true; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return BertPredictions(config); }

 private:
  Value Layer(Build& b, const ModelConfig& config, const RelativePositions& positions, int32_t layer, Value x) const;
  Value NormedLayer(Build& b, const ModelConfig& config, const RelativePositions& positions, int32_t layer,
                    Value x) const;

  bool norms_queries_ = false;
  bool is_gated_ = true;
  Activation gate_ = Activation::kGelu;
};

// Whether config.json names the code of jina-bert-v2-qk-post-norm. No other field distinguishes that variant.
bool NamesPostNorm(ConfigReader& reader) {
  const JsonValue map = reader.Field("auto_map");
  for (size_t i = 0; map.IsObject() && i < map.size(); ++i) {
    if (map.MemberValue(i).GetString().value_or("").find("qk-post-norm") != std::string_view::npos) return true;
  }
  return false;
}

void JinaBert::Read(ConfigReader& reader, ModelConfig& config) {
  RequireWholeHeads(reader, config);
  norms_queries_ = NamesPostNorm(reader);
  const std::string type = reader.String("feed_forward_type", "original");
  is_gated_ = type != "original";
  gate_ = type == "reglu" ? Activation::kRelu : Activation::kGelu;
  if (type != "geglu" && type != "reglu" && (is_gated_ || norms_queries_)) {
    reader.Fail(
        Unsupported("config.json: feed_forward_type \"" + type + "\" is not supported; use \"geglu\" or \"reglu\""));
  }
  if (int64_t{config.max_position_embeddings} * config.num_attention_heads > kMostBiases) {
    reader.Refuse("max_position_embeddings", "is too large for a table of linear biases");
  }
}

Value JinaBert::Encode(Build& b, const ModelConfig& config) const {
  Value x = BertEmbeddings(b, config, {.positions = false});
  const int32_t longest = config.max_position_embeddings;
  RelativePositions positions;
  positions.bias = b.AlibiBias(longest, config.num_attention_heads);
  positions.slots = b.IndexOf(indices::Slots{.rows = 2 * longest - 1, .offset = longest - 1});
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    x = norms_queries_ ? NormedLayer(b, config, positions, i, x) : Layer(b, config, positions, i, x);
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

// Returns down(gate * up), where gate and up are the halves of a layer's columns.
Value Gated(Build& b, const ModelConfig& config, Activation activation, Value gate, Value up, const std::string& down) {
  const Value between = b.Dropped(b.Multiply(b.Activate(gate, activation), up));
  return b.Linear(between, LinearsOf(b, {down}, config.intermediate_size, config.hidden_size, true).WithWideInput());
}

Value JinaBert::Layer(Build& b, const ModelConfig& config, const RelativePositions& positions, int32_t layer,
                      Value x) const {
  const LayerNames names = BertLayer(layer);
  x = SelfAttention(b, config, DeclareAttention(b, config, names), positions, layer, x);
  if (!is_gated_) return FeedForward(b, config, names.feed_forward, x);
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  const std::string mlp = LayerName(layer) + "mlp.";
  const auto [gate, up] = b.Split<2>(b.Linear(x, LinearsOf(b, {mlp + "gated_layers"}, hidden, 2 * wide, false)));
  const Value down = Gated(b, config, gate_, gate, up, mlp + "wo");
  return b.LayerNorm(b.Add(down, x), b.Norm(mlp + "layernorm", hidden, config.layer_norm_eps));
}

// A layer of the variant that norms queries and keys. It adds the layer's input to its attention twice.
Value JinaBert::NormedLayer(Build& b, const ModelConfig& config, const RelativePositions& positions, int32_t layer,
                            Value x) const {
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  const float eps = config.layer_norm_eps;
  const std::string name = LayerName(layer);
  AttentionWeights attention = DeclareAttention(b, config, BertLayer(layer));
  attention.query_norm = b.Norm(name + "attention.self.layer_norm_q", hidden, eps);
  attention.key_norm = b.Norm(name + "attention.self.layer_norm_k", hidden, eps);
  const Value attended = SelfAttention(b, config, attention, positions, layer, x);
  x = b.LayerNorm(b.Add(attended, x), b.Norm(name + "layer_norm_1", hidden, eps));
  const std::string mlp = name + "mlp.";
  const auto [up, gate] = b.Split<2>(b.Linear(x, LinearsOf(b, {mlp + "up_gated_layer"}, hidden, 2 * wide, false)));
  const Value down = Gated(b, config, gate_, gate, up, mlp + "down_layer");
  return b.LayerNorm(b.Add(down, x), b.Norm(name + "layer_norm_2", hidden, eps));
}

}  // namespace

std::unique_ptr<Family> CreateJinaBert() { return std::make_unique<JinaBert>(); }

}  // namespace peruse
