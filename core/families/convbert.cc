// ConvBERT (Jiang et al., 2020; transformers' ConvBertModel): half of each layer's heads attend, the other half convolve with kernels that
// depend on the local span.
#include <algorithm>
#include <cmath>

#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

class ConvBert : public Family {
 public:
  ConfigDefaults defaults() const override { return {.embedding_size = 768}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"convbert.", "conv_bert."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig& config) const override {
    return {.transform = {.dense = "classifier.dense", .activation = config.hidden_act},
            .classifier = "classifier.out_proj",
            .drops_row = true};
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return GeneratorHead(config); }
  Pretraining pretraining() const override { return {.narrow_generator = true}; }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig& config) const override {
    return SummaryHead(summary_, config);
  }

 private:
  Value MixedAttention(Build& b, const ModelConfig& config, int32_t layer, Value x) const;

  int32_t kernel_size_ = 9;
  int32_t num_groups_ = 1;  // number of groups in feed-forward layers
  int32_t heads_ = 0;       // attention heads that are used: num_attention_heads / head_ratio
  SummaryConfig summary_;
};

void ConvBert::Read(ConfigReader& reader, ModelConfig& config) {
  kernel_size_ = reader.Int("conv_kernel_size", 9, 1, kMaxKernel);
  if (kernel_size_ % 2 == 0) reader.Refuse("conv_kernel_size", "must be odd");
  num_groups_ = reader.Int("num_groups", 1, 1, kMaxHidden);
  if (config.hidden_size % num_groups_ != 0 || config.intermediate_size % num_groups_ != 0) {
    reader.Refuse("num_groups", "must divide hidden_size and intermediate_size");
  }
  const int32_t head_ratio = reader.Int("head_ratio", 2, 1, kMaxHidden);
  heads_ = std::max(1, config.num_attention_heads / head_ratio);
  const int32_t head_dim = config.hidden_size / heads_ / 2;
  if (config.hidden_size % heads_ != 0 || 2 * heads_ * head_dim != config.hidden_size) {
    reader.Fail(MalformedFile("config.json: hidden_size " + std::to_string(config.hidden_size) +
                              " cannot be halved over " + std::to_string(heads_) +
                              " heads (num_attention_heads / head_ratio)"));
  }
  summary_ = ReadSummary(reader, "last", false, Activation::kNone);
}

// transformers: ConvBertSelfAttention and ConvBertSelfOutput.
Value ConvBert::MixedAttention(Build& b, const ModelConfig& config, int32_t layer, Value x) const {
  const std::string name = LayerName(layer) + "attention.";
  const std::string self = name + "self.";
  const int32_t hidden = config.hidden_size;
  // Columns of the attention heads (heads * head_dim), and columns of the convolution heads.
  const int32_t half = hidden / 2;

  const Value projected = b.Linear(x, b.Stacked(hidden)
                                          .Add(self + "query", half)
                                          .Add(self + "key", half)
                                          .Add(self + "value", half)
                                          .Add(self + "conv_out_layer", half));
  const auto [query, key, value, conv_out] = b.Split<4>(projected);

  const float scale = 1.0f / std::sqrt(static_cast<float>(half / heads_));
  const auto [context, probabilities] =
      b.Attention({.query = query, .key = key, .value = value, .heads = heads_, .scale = scale});
  b.Output({OutputKind::kAttention, layer}, probabilities);

  // SeparableConv1D computes the span-aware key. conv_attn_layer = key_conv_attn_layer * query.
  const Value depthwise =
      b.DepthwiseConv(x, b.DepthwiseTaps(self + "key_conv_attn_layer.depthwise.weight", hidden, kernel_size_));
  const Value span_key =
      b.Linear(depthwise, b.Stacked(hidden)
                              .AddWeight({self + "key_conv_attn_layer.pointwise.weight"}, {half, hidden, 1}, half)
                              .AddBias({self + "key_conv_attn_layer.bias"}, {half, 1}, 0));
  const Value conv_attn = b.Multiply(span_key, query);

  const Value logits = b.Linear(conv_attn, b.Weights(self + "conv_kernel_layer", half, heads_ * kernel_size_));
  const auto [convolved, kernels] = b.SpanConv(logits, conv_out, heads_);
  b.Output({OutputKind::kSpanKernel, layer}, kernels);

  const Value both = b.Concat(MaskHeads(b, layer, context), convolved);
  return AttentionOutput(b, config, name + "output.dense", name + "output.LayerNorm", both, x);
}

Value ConvBert::Encode(Build& b, const ModelConfig& config) const {
  Value x = BertEmbeddings(b, config, {});
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    x = FeedForward(b, config, BertLayer(i).feed_forward, MixedAttention(b, config, i, x), num_groups_);
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

}  // namespace

std::unique_ptr<Family> CreateConvBert() { return std::make_unique<ConvBert>(); }

}  // namespace peruse
