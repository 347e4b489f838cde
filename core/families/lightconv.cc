// Lightweight and dynamic convolution encoders (Wu et al., "Pay Less Attention with Lightweight and Dynamic Convolutions", 2019). Sentence
// encoders of this kind are not published, so the layout is Peruse's own: ConvBERT's configuration (num_attention_heads convolution heads;
// conv_kernel_size may be a list, one width per layer), embeddings and heads, and these layers after the prefix "lightconv." or
// "dynamicconv.":
//   encoder.layer.L.conv.in_proj.weight [2 hidden, hidden], .bias [2 hidden]   values first, then gates
//   encoder.layer.L.conv.weight [heads, kernel]                                lightconv: logits of the taps
//   encoder.layer.L.conv.kernel.weight [heads * kernel, hidden], .bias         dynamicconv: row head * kernel + tap
//   encoder.layer.L.conv.out_proj.weight [hidden, hidden], .bias [hidden]
//   encoder.layer.L.conv.LayerNorm.weight, .bias [hidden]
//   encoder.layer.L.intermediate.dense, output.dense, output.LayerNorm         as in BERT
#include <algorithm>

#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

class LightConv : public Family {
 public:
  explicit LightConv(bool dynamic) : dynamic_(dynamic) {}

  ConfigDefaults defaults() const override { return {.embedding_size = 768}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {dynamic_ ? "dynamicconv." : "lightconv."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig& config) const override {
    return {.transform = {.dense = "classifier.dense", .activation = config.hidden_act},
            .classifier = "classifier.out_proj",
            .drops_row = true};
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return GeneratorHead(config); }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional<PooledHead>();
  }

 private:
  Value GatedConvolution(Build& b, const ModelConfig& config, int32_t layer, Value x) const;

  const bool dynamic_;
  std::vector<int32_t> kernel_sizes_;  // one odd size per layer
};

// conv_kernel_size is one width for all layers, or a list with one width per layer.
void LightConv::Read(ConfigReader& reader, ModelConfig& config) {
  RequireWholeHeads(reader, config);
  constexpr std::string_view kField = "conv_kernel_size";
  const size_t layers = static_cast<size_t>(config.num_hidden_layers);
  const JsonValue list = reader.Field(kField);
  if (!list.IsArray()) {
    kernel_sizes_.assign(layers, reader.Int(kField, 9, 1, kMaxKernel));
  } else if (list.size() == layers) {
    for (const JsonValue item : list) {
      const int64_t size = item.GetInt64().value_or(0);
      kernel_sizes_.push_back(size >= 1 && size <= kMaxKernel ? static_cast<int32_t>(size) : 0);
    }
  }
  const auto odd = [](int32_t size) { return size % 2 == 1; };
  if (kernel_sizes_.size() != layers || !std::all_of(kernel_sizes_.begin(), kernel_sizes_.end(), odd)) {
    reader.Refuse(kField, "must be odd, or a list of as many odd numbers as there are layers");
  }
}

// norm(out_proj(conv(glu(in_proj(x)))) + x)
Value LightConv::GatedConvolution(Build& b, const ModelConfig& config, int32_t layer, Value x) const {
  const std::string name = LayerName(layer) + "conv.";
  const int32_t hidden = config.hidden_size;
  const int32_t heads = config.num_attention_heads;
  const int32_t kernel = kernel_sizes_[static_cast<size_t>(layer)];

  const auto [values, gates] = b.Split<2>(b.Linear(x, b.Weights(name + "in_proj", hidden, 2 * hidden)));
  const Value gated = b.Multiply(values, b.Activate(gates, Activation::kSigmoid));

  Value convolved;
  if (dynamic_) {
    // The kernel at a position depends on the gated features of that position.
    const Value logits = b.Linear(gated, b.Weights(name + "kernel", hidden, heads * kernel));
    const auto [out, kernels] = b.SpanConv(logits, gated, heads);
    b.Output({OutputKind::kSpanKernel, layer}, kernels);
    convolved = out;
  } else {
    convolved = b.DepthwiseConv(gated, b.SoftmaxTaps(name + "weight", heads, hidden, kernel));
  }
  return AttentionOutput(b, config, name + "out_proj", name + "LayerNorm", convolved, x);
}

Value LightConv::Encode(Build& b, const ModelConfig& config) const {
  Value x = BertEmbeddings(b, config, {});
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    x = FeedForward(b, config, BertLayer(i).feed_forward, GatedConvolution(b, config, i, x));
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

}  // namespace

std::unique_ptr<Family> CreateLightConv() { return std::make_unique<LightConv>(false); }
std::unique_ptr<Family> CreateDynamicConv() { return std::make_unique<LightConv>(true); }

}  // namespace peruse
