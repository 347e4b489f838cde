// Lightweight and dynamic convolution encoders (Wu et al., "Pay Less Attention with Lightweight and Dynamic
// Convolutions", 2019), the ancestors of ConvBERT's span-based dynamic convolution. Spec: convolution-operators.md
// sections 2 to 4.
//
// No library publishes checkpoints of these as sentence encoders, so the layout is our own: ConvBERT's configuration
// (num_attention_heads convolution heads; conv_kernel_size may be a list, one width a layer), ConvBERT's embeddings and
// heads, and these layers, after the prefix "lightconv." or "dynamicconv.":
//
//   encoder.layer.L.conv.in_proj.weight [2 hidden, hidden], .bias [2 hidden]   values first, then gates
//   encoder.layer.L.conv.weight [heads, kernel]                                lightconv: logits of the taps
//   encoder.layer.L.conv.kernel.weight [heads * kernel, hidden], .bias         dynamicconv: row head * kernel + tap
//   encoder.layer.L.conv.out_proj.weight [hidden, hidden], .bias [hidden]
//   encoder.layer.L.conv.LayerNorm.weight, .bias [hidden]
//   encoder.layer.L.intermediate.dense, output.dense, output.LayerNorm         as in BERT
#pragma once

#include <vector>

#include "core/models/encoder.h"
#include "core/models/feed_forward.h"

namespace peruse {

class LightConvEncoder : public Encoder {
 public:
  explicit LightConvEncoder(const ModelConfig& config);

  void Declare(Binder& binder) override;
  void Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
               std::span<const int32_t> kept, Tensor out) override;
  int32_t attention_heads() const override { return 0; }
  Outlook outlook() const override {
    if (!is_dynamic()) return {.depthwise = true};
    return {.span_taps = config_.lightconv.conv_kernel_sizes};
  }

 private:
  struct Layer {
    Weight in_proj;   // hidden -> 2 hidden
    Tensor taps;      // [kernel, hidden] lightconv: the normalised kernels, by channel
    Weight kernel;    // hidden -> heads * kernel, dynamicconv
    Weight out_proj;  // hidden -> hidden
    Norm norm;
    FeedForward feed_forward;
  };

  bool is_dynamic() const { return config_.architecture == Architecture::kDynamicConv; }
  void GatedConvolution(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch,
                        Inspection& inspection, std::span<const int32_t> kept, Tensor out);

  const ModelConfig& config_;
  std::vector<Layer> layers_;
};

}  // namespace peruse
