// Convolutions over the tokens of a text.
#include <algorithm>

#include "core/backend/quantize.h"
#include "core/backend/shape_check.h"
#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {
namespace {

constexpr uint32_t kSpanTokens = 16;    // TOKENS of linear_span_conv.wgsl
constexpr int32_t kMostFusedTaps = 63;  // that its workgroup memory holds

constexpr int64_t kExactFloats = 1 << 24;  // integers up to here are float32s

Constants SpanConvConstants(int32_t taps, Precision precision) {
  return {{"TAPS", static_cast<float>(taps)},
          {"HALF_WEIGHTS", precision == Precision::kF16 ? 1.0f : 0.0f},
          {"INT8_WEIGHTS", precision == Precision::kQ8 ? 1.0f : 0.0f}};
}

// Whether linear_span_conv.wgsl can add up the products of such a layer.
bool HasExactSums(const LinearSpec& spec) {
  return spec.precision != Precision::kQ8 ||
         (!spec.wide_input && spec.in * kInputLevels * kWeightLevels <= kExactFloats);
}

}  // namespace

void Recording::PrepareSpanConv(int32_t taps, Precision precision) {
  if (taps <= kMostFusedTaps) recorder_.Expect("linear_span_conv", SpanConvConstants(taps, precision));
}

Grid Recording::TokenGrid(int64_t columns, const RaggedBatch& batch) const {
  const uint32_t most = recorder_.limits().workgroups_per_dimension;
  return {CeilDivide(columns, kThreads), std::min(static_cast<uint32_t>(batch.longest()), most),
          static_cast<uint32_t>(batch.sequences())};
}

void Recording::DepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) {
  CheckDepthwiseConv(x, taps, batch, out);
  if (failed()) return;
  const View input = Input(x, out);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const View kernel = Of(taps);
  const View result = Of(out);
  const DepthwiseConvParams params = {static_cast<uint32_t>(x.cols), input.place, kernel.place, result.place,
                                      static_cast<uint32_t>(taps.rows)};
  recorder_.Dispatch("depthwise_conv", {}, params, {starts, input.buffer, kernel.buffer, result.buffer},
                     TokenGrid(x.cols, batch));
}

void Recording::SpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                         Tensor kernels) {
  CheckSpanConv(logits, values, heads, batch, out, kernels);
  if (failed()) return;
  const View scores = Input(logits, out);
  const View source = Input(values, out);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const int32_t taps = logits.cols / heads;
  const View result = Of(out);
  const SpanConvParams params = {
      static_cast<uint32_t>(values.cols),        scores.place, source.place, result.place, static_cast<uint32_t>(taps),
      static_cast<uint32_t>(values.cols / heads)};
  recorder_.Dispatch("span_conv", {}, params, {starts, scores.buffer, source.buffer, result.buffer},
                     TokenGrid(values.cols, batch));
  if (kernels.valid()) WriteSpanKernels(logits, heads, kernels);
}

void Recording::WriteSpanKernels(Tensor logits, int32_t heads, Tensor kernels) {
  const View input = Input(logits, kernels);
  if (failed()) return;
  const View softmax = Of(kernels);
  const SpanKernelsParams params = {static_cast<uint32_t>(logits.rows), static_cast<uint32_t>(heads), input.place,
                                    softmax.place, static_cast<uint32_t>(logits.cols / heads)};
  recorder_.Dispatch("span_kernels", {}, params, {input.buffer, softmax.buffer},
                     Elementwise(int64_t{logits.rows} * heads));
}

void Recording::LinearSpanConv(Tensor x, Weight weight, Tensor values, int32_t heads, const RaggedBatch& batch,
                               Tensor out, Tensor kernels) {
  CheckLinearSpanConv(x, weight, values, heads, batch, out, kernels);
  if (failed()) return;
  const LinearWeight& linear = memory_.linear(weight);
  const int32_t taps = weight.out / heads;
  if (!HasExactSums(linear.spec) || taps > kMostFusedTaps || linear.parts.size() > 1 || weight.groups > 1) {
    return Backend::LinearSpanConv(x, weight, values, heads, batch, out, kernels);
  }
  const View input = Input(x, out);
  const View source = Input(values, out);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const View result = Of(out);
  const LinearSpanConvParams params = {static_cast<uint32_t>(x.cols),
                                       input.place,
                                       static_cast<uint32_t>(linear.row_elements),
                                       source.place,
                                       result.place,
                                       static_cast<uint32_t>(values.cols / heads),
                                       static_cast<uint32_t>(weight.out),
                                       kInputLevels};
  recorder_.Dispatch("linear_span_conv", SpanConvConstants(taps, linear.spec.precision), params,
                     {starts, input.buffer, linear.parts[0].buffer, linear.bias, source.buffer, result.buffer},
                     {CeilDivide(batch.longest(), kSpanTokens), static_cast<uint32_t>(heads),
                      static_cast<uint32_t>(batch.sequences())});
  if (!kernels.valid()) return;
  const Scope scope(*this);
  const Tensor logits = New(x.rows, weight.out);
  Linear(x, weight, Activation::kNone, logits);
  WriteSpanKernels(logits, heads, kernels);
}

void Recording::Conv1d(Tensor x, Weight weight, int32_t kernel_size, Activation activation, const RaggedBatch& batch,
                       Tensor out) {
  CheckConv1d(x, weight, kernel_size, batch, out);
  if (failed()) return;
  const View unfolded = TakeMatrix(x.rows, weight.in);
  const int32_t starts = Starts(batch);
  if (failed()) return;
  const View input = Of(x);
  const UnfoldParams params = {static_cast<uint32_t>(x.cols), static_cast<uint32_t>(x.cols / weight.groups),
                               input.place, unfolded.place, static_cast<uint32_t>(kernel_size)};
  recorder_.Dispatch("unfold", {}, params, {starts, input.buffer, unfolded.buffer}, TokenGrid(weight.in, batch));
  Project(unfolded, x.rows, weight, activation, {}, Of(out));
  GiveBack(unfolded.buffer);
}

}  // namespace peruse::webgpu
