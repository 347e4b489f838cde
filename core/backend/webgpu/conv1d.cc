#include "core/backend/webgpu/linear.h"

namespace peruse::webgpu {
namespace {

// Whether rows of the unfolded matrix can be read as vec4. The rows are contiguous, so only their length matters.
bool UnfoldReadsVec4(const LinearSpec& spec) { return spec.in % 4 == 0; }

}  // namespace

template <>
void Record(Recording& r, const ops::Conv1d& op) {
  const Tensor x = r.at(op.x);
  const LinearSpec& spec = r.linear(op.weight).spec;
  const Recording::View unfolded = r.TakeMatrix(x.rows, spec.in);
  const int32_t starts = r.Starts();
  if (r.failed()) return;
  const Recording::View input = r.Of(x);
  const UnfoldParams params = {static_cast<uint32_t>(x.cols), static_cast<uint32_t>(x.cols / spec.groups), input.place,
                               unfolded.place, static_cast<uint32_t>(op.kernel_size)};
  r.recorder().Dispatch("unfold", {}, params, {starts, input.buffer, unfolded.buffer}, r.TokenGrid(spec.in));
  Project(r, {unfolded, UnfoldReadsVec4(spec), x.rows, op.weight}, op.activation, {}, r.Of(op.out));
  r.GiveBack(unfolded.buffer);
}

template <>
void Expect(Recording& r, const Program& program, const ops::Conv1d& op) {
  r.recorder().Expect("unfold", {});
  const LinearSpec& spec = program.linears[static_cast<size_t>(op.weight.id)];
  ExpectLinear(r, PipelineFor(spec, UnfoldReadsVec4(spec)));
}

}  // namespace peruse::webgpu
