#include "core/models/lightconv.h"

#include "core/models/layer_loop.h"

namespace peruse {

LightConvEncoder::LightConvEncoder(const ModelConfig& config)
    : config_(config), layers_(static_cast<size_t>(config.num_hidden_layers)) {}

void LightConvEncoder::Declare(Binder& binder) {
  const int32_t hidden = config_.hidden_size;
  const int32_t heads = config_.num_attention_heads;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".";
    const int32_t kernel = config_.lightconv.conv_kernel_sizes[i];
    Layer& layer = layers_[i];
    binder.Linear(name + "conv.in_proj", hidden, 2 * hidden, &layer.in_proj);
    if (is_dynamic()) {
      binder.Linear(name + "conv.kernel", hidden, heads * kernel, &layer.kernel);
    } else {
      binder.SoftmaxTaps(name + "conv.weight", heads, hidden, kernel, &layer.taps);
    }
    binder.Linear(name + "conv.out_proj", hidden, hidden, &layer.out_proj);
    binder.LayerNorm(name + "conv.LayerNorm", hidden, config_.layer_norm_eps, &layer.norm);
    layer.feed_forward.Declare(binder, name, config_, 1);
  }
}

// out = norm(out_proj(conv(glu(in_proj(x)))) + x)      x, out [rows, hidden]
void LightConvEncoder::GatedConvolution(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch,
                                        Inspection& inspection, std::span<const int32_t> kept, Tensor out) {
  const int32_t rows = batch.rows();
  const int32_t hidden = config_.hidden_size;
  Scope scope(backend);

  // Gated linear unit: values * sigmoid(gates)
  const Tensor projected = backend.New(rows, 2 * hidden);
  backend.Linear(x, layer.in_proj, Activation::kNone, projected);
  const Tensor gates = backend.New(rows, hidden);
  backend.Activate(projected.Columns(hidden, hidden), Activation::kSigmoid, gates);
  const Tensor gated = backend.New(rows, hidden);
  backend.Multiply(projected.Columns(0, hidden), gates, gated);

  const Tensor convolved = backend.New(rows, hidden);
  if (is_dynamic()) {
    // The kernel of a position is made from the gated features of that position.
    const Tensor kernels = inspection.NewSpanKernel(backend, rows, layer.kernel.out);
    backend.LinearSpanConv(gated, layer.kernel, gated, config_.num_attention_heads, batch, convolved, kernels);
    inspection.KeepSpanKernel(backend, kernels);
  } else {
    backend.DepthwiseConv(gated, layer.taps, batch, convolved);
  }
  const Tensor residual = KeepRows(backend, x, kept);
  backend.LinearAddNorm(KeepRows(backend, convolved, kept), layer.out_proj, residual, layer.norm, out);
}

void LightConvEncoder::Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                               std::span<const int32_t> kept, Tensor out) {
  const auto forward = [&](int32_t i, Tensor input, std::span<const int32_t> rows, Tensor output) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    Scope scope(backend);
    const Tensor convolved = backend.New(output.rows, config_.hidden_size);
    GatedConvolution(backend, layer, input, batch, inspection, rows, convolved);
    layer.feed_forward.Forward(backend, convolved, config_.hidden_act, output);
  };
  RunLayers(backend, config_.num_hidden_layers, x, kept, out, inspection, forward);
}

}  // namespace peruse
