// ConvBERT (Jiang et al., "ConvBERT: Improving BERT with Span-based Dynamic Convolution", 2020): half of each layer's
// heads attend, the other half convolve with kernels made from the local span. Reference class: ConvBertModel.
#pragma once

#include <string>
#include <vector>

#include "core/models/encoder.h"
#include "core/models/feed_forward.h"

namespace peruse {

class ConvBertEncoder : public Encoder {
 public:
  explicit ConvBertEncoder(const ModelConfig& config);

  void Declare(Binder& binder) override;
  void Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
               std::span<const int32_t> kept, Tensor out) override;
  int32_t attention_heads() const override { return config_.convbert.heads; }
  Outlook outlook() const override {
    return {.head_dim = config_.convbert.head_dim, .depthwise = true, .span_taps = {config_.convbert.conv_kernel_size}};
  }

 private:
  // Below, half = hidden / 2 = heads * head_dim, the width of either kind of head.
  struct Layer {
    Weight query_key_value_conv;  // hidden -> 4 half: query, key, value and conv_out_layer, one product
    Tensor depthwise;             // [kernel, hidden] taps of key_conv_attn_layer
    Weight pointwise;             // hidden -> half
    Weight conv_kernel;           // half -> heads * kernel
    Weight attention_output;      // hidden -> hidden
    Norm attention_norm;
    FeedForward feed_forward;
  };

  void DeclareLayer(Binder& binder, const std::string& name, Layer& layer);
  void MixedAttention(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                      std::span<const int32_t> kept, Tensor out);

  const ModelConfig& config_;
  std::vector<Layer> layers_;
};

}  // namespace peruse
