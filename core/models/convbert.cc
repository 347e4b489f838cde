#include "core/models/convbert.h"

#include <cmath>

#include "core/models/layer_loop.h"

namespace peruse {

ConvBertEncoder::ConvBertEncoder(const ModelConfig& config)
    : config_(config), layers_(static_cast<size_t>(config.num_hidden_layers)) {}

void ConvBertEncoder::Declare(Binder& binder) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    DeclareLayer(binder, "encoder.layer." + std::to_string(i) + ".", layers_[i]);
  }
}

void ConvBertEncoder::DeclareLayer(Binder& binder, const std::string& name, Layer& layer) {
  const int32_t hidden = config_.hidden_size;
  const int32_t half = hidden / 2;
  const int32_t kernel = config_.convbert.conv_kernel_size;
  const std::string self = name + "attention.self.";

  binder.Stack(hidden, &layer.query_key_value_conv)
      .Add(self + "query", half)
      .Add(self + "key", half)
      .Add(self + "value", half)
      .Add(self + "conv_out_layer", half);
  binder.DepthwiseTaps(self + "key_conv_attn_layer.depthwise.weight", hidden, kernel, &layer.depthwise);
  binder.Stack(hidden, &layer.pointwise)
      .AddWeight(self + "key_conv_attn_layer.pointwise.weight", {half, hidden, 1}, half)
      .AddBias(self + "key_conv_attn_layer.bias", {half, 1}, 0, half);
  binder.Linear(self + "conv_kernel_layer", half, config_.convbert.heads * kernel, &layer.conv_kernel);
  binder.Linear(name + "attention.output.dense", hidden, hidden, &layer.attention_output);
  binder.LayerNorm(name + "attention.output.LayerNorm", hidden, config_.layer_norm_eps, &layer.attention_norm);
  layer.feed_forward.Declare(binder, name, config_, config_.convbert.num_groups);
}

// out = norm(output([attention heads | convolution heads]) + x)      x, out [rows, hidden]
void ConvBertEncoder::MixedAttention(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch,
                                     Inspection& inspection, std::span<const int32_t> kept, Tensor out) {
  const int32_t rows = batch.rows();
  const int32_t half = config_.hidden_size / 2;
  const int32_t heads = config_.convbert.heads;
  const int32_t kernel = config_.convbert.conv_kernel_size;
  Scope scope(backend);

  // ConvBertSelfAttention.{query, key, value, conv_out_layer}
  const Tensor projected = backend.New(rows, 4 * half);
  backend.Linear(x, layer.query_key_value_conv, Activation::kNone, projected);
  const Tensor query = projected.Columns(0, half);
  const Tensor key = projected.Columns(half, half);
  const Tensor value = projected.Columns(2 * half, half);
  const Tensor conv_out = projected.Columns(3 * half, half);

  // context_layer = softmax(query key^T / sqrt(head_dim)) value
  const Tensor mixed = backend.New(rows, 2 * half);  // attention heads first, then convolution heads
  const Tensor probabilities = inspection.NewAttention(backend, batch, heads);
  const float scale = 1.0f / std::sqrt(static_cast<float>(config_.convbert.head_dim));
  backend.Attention({query, key, value, heads, scale, probabilities}, batch, mixed.Columns(0, half));
  inspection.KeepAttention(backend, probabilities);

  // SeparableConv1D: the span-aware key
  const Tensor depthwise = backend.New(rows, 2 * half);
  backend.DepthwiseConv(x, layer.depthwise, batch, depthwise);
  // conv_attn_layer = key_conv_attn_layer * query
  const Tensor product = backend.New(rows, half);
  backend.LinearMultiply(depthwise, layer.pointwise, query, product);

  // conv_kernel_layer, its softmax, and the convolution
  const Tensor kernels = inspection.NewSpanKernel(backend, rows, heads * kernel);
  backend.LinearSpanConv(product, layer.conv_kernel, conv_out, heads, batch, mixed.Columns(half, half), kernels);
  inspection.KeepSpanKernel(backend, kernels);

  // ConvBertSelfOutput
  const Tensor residual = KeepRows(backend, x, kept);
  backend.LinearAddNorm(KeepRows(backend, mixed, kept), layer.attention_output, residual, layer.attention_norm, out);
}

void ConvBertEncoder::Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                              std::span<const int32_t> kept, Tensor out) {
  const auto forward = [&](int32_t i, Tensor input, std::span<const int32_t> rows, Tensor output) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    Scope scope(backend);
    const Tensor attended = backend.New(output.rows, config_.hidden_size);
    MixedAttention(backend, layer, input, batch, inspection, rows, attended);
    layer.feed_forward.Forward(backend, attended, config_.hidden_act, output);
  };
  RunLayers(backend, config_.num_hidden_layers, x, kept, out, inspection, forward);
}

}  // namespace peruse
