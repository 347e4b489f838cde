#include "core/backend/webgpu/linear.h"

namespace peruse::webgpu {
namespace {

constexpr uint32_t kSpanTokens = 16;    // TOKENS of linear_span_conv.wgsl
constexpr int32_t kMostFusedTaps = 63;  // more taps exceed the workgroup memory

Constants SpanConvConstants(Recording& r, int32_t taps, const LinearSpec& spec) {
  const Tuning& tuning = r.recorder().limits().tuning;
  const int32_t step = spec.in % tuning.span_step == 0 ? tuning.span_step : kShortSpanStep;
  Constants constants = {{"TAPS", static_cast<float>(taps)},
                         {"STEP", static_cast<float>(step)},
                         {"RAGGED", spec.in % step == 0 ? 0.0f : 1.0f},
                         {"FEW_REGISTERS", tuning.few_registers ? 1.0f : 0.0f}};
  for (const Constant& constant : GpuFormatOf(spec.precision).product_constants(false)) constants.push_back(constant);
  return constants;
}

bool Fuses(const Program& program, const ops::SpanConv& op) {
  if (!op.weight.valid() || op.kernel_size > kMostFusedTaps) return false;
  const LinearSpec& spec = program.linears[static_cast<size_t>(op.weight.id)];
  return GpuFormatOf(spec.precision).fuses_span_conv && spec.groups == 1 &&
         PipelineFor(spec, ReadsVec4(program, op.logits)).aligned;
}

void WriteKernels(Recording& r, const ops::SpanConv& op, const Recording::View& logits) {
  if (!op.kernels.valid()) return;
  const Recording::View kernels = r.Of(op.kernels);
  const int32_t rows = r.at(op.kernels).rows;
  const SpanKernelsParams params = {static_cast<uint32_t>(rows), static_cast<uint32_t>(op.heads), logits.place,
                                    kernels.place, static_cast<uint32_t>(op.kernel_size)};
  r.recorder().Dispatch("span_kernels", {}, params, {logits.buffer, kernels.buffer},
                        r.Elementwise(int64_t{rows} * op.heads));
}

Recording::View ProjectLogits(Recording& r, const ops::SpanConv& op) {
  const int32_t rows = r.at(op.logits).rows;
  const Recording::View logits = r.TakeMatrix(rows, op.heads * op.kernel_size);
  if (r.failed()) return logits;
  const bool reads_vec4 = ReadsVec4(r.plan().program, op.logits);
  Project(r, {r.Of(op.logits), reads_vec4, rows, op.weight}, Activation::kNone, {}, logits);
  return logits;
}

void RecordFused(Recording& r, const ops::SpanConv& op, const LinearWeight& linear) {
  const Recording::View x = r.Operand(op.logits, op.out);
  const Recording::View values = r.Operand(op.values, op.out);
  const int32_t starts = r.Starts();
  if (r.failed()) return;
  PERUSE_CHECK(x.place.first % 4 == 0 && x.place.stride % 4 == 0);
  const Recording::View out = r.Of(op.out);
  const LinearSpanConvParams params = {static_cast<uint32_t>(linear.spec.in),
                                       x.place,
                                       static_cast<uint32_t>(linear.row_elements),
                                       values.place,
                                       out.place,
                                       static_cast<uint32_t>(r.at(op.values).cols / op.heads)};
  r.recorder().Dispatch("linear_span_conv", SpanConvConstants(r, op.kernel_size, linear.spec), params,
                        {starts, x.buffer, linear.parts[0].buffer, linear.bias, values.buffer, out.buffer},
                        {CeilDivide(r.batch().longest(), kSpanTokens), static_cast<uint32_t>(op.heads),
                         static_cast<uint32_t>(r.batch().sequences())});
  if (!op.kernels.valid()) return;
  const Recording::View logits = ProjectLogits(r, op);
  if (!r.failed()) WriteKernels(r, op, logits);
  r.GiveBack(logits.buffer);
}

}  // namespace

template <>
void Record(Recording& r, const ops::SpanConv& op) {
  if (op.weight.valid()) {
    const LinearWeight& linear = r.linear(op.weight);
    if (Fuses(r.plan().program, op) && linear.parts.size() == 1) return RecordFused(r, op, linear);
  }
  const Recording::View logits = op.weight.valid() ? ProjectLogits(r, op) : r.Operand(op.logits, op.out);
  const Recording::View values = r.Operand(op.values, op.out);
  const int32_t starts = r.Starts();
  if (r.failed()) return;
  const int32_t width = r.at(op.values).cols;
  const Recording::View out = r.Of(op.out);
  const SpanConvParams params = {static_cast<uint32_t>(width),
                                 logits.place,
                                 values.place,
                                 out.place,
                                 static_cast<uint32_t>(op.kernel_size),
                                 static_cast<uint32_t>(width / op.heads)};
  r.recorder().Dispatch("span_conv", {}, params, {starts, logits.buffer, values.buffer, out.buffer},
                        r.TokenGrid(width));
  WriteKernels(r, op, logits);
  if (op.weight.valid()) r.GiveBack(logits.buffer);
}

template <>
void Expect(Recording& r, const Program& program, const ops::SpanConv& op) {
  const LinearSpec* spec = op.weight.valid() ? &program.linears[static_cast<size_t>(op.weight.id)] : nullptr;
  if (Fuses(program, op)) {
    r.recorder().Expect("linear_span_conv", SpanConvConstants(r, op.kernel_size, *spec));
    return;
  }
  if (spec != nullptr) ExpectLinear(r, PipelineFor(*spec, ReadsVec4(program, op.logits)));
  r.recorder().Expect("span_conv", {});
}

}  // namespace peruse::webgpu
