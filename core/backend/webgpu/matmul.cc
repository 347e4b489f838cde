#include "core/backend/webgpu/linear.h"

namespace peruse::webgpu {

namespace {

LinearPipeline MatMulPipelineFor(const Program& program, const ops::MatMul& op) {
  const Extent depth = program.info(op.x).cols;
  return {.aligned = ReadsVec4(program, op.x) && ReadsVec4(program, op.y) && depth.factor % kTileDepth == 0};
}

}  // namespace

template <>
void Record(Recording& r, const ops::MatMul& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const Recording::View y = r.Operand(op.y, op.out);
  if (r.failed()) return;
  const Recording::View out = r.Of(op.out);
  LinearParams params = {};
  params.rows = static_cast<uint32_t>(r.at(op.x).rows);
  params.depth = static_cast<uint32_t>(r.at(op.x).cols);
  params.width = static_cast<uint32_t>(r.at(op.y).rows);
  params.x_first = x.place.first;
  params.x_stride = x.place.stride;
  params.w_first = y.place.first;
  params.w_stride = y.place.stride;
  params.out_first = out.place.first;
  params.out_stride = out.place.stride;
  DispatchLinear(r, MatMulPipelineFor(r.plan().program, op), params, 1,
                 {x.buffer, y.buffer, y.buffer, x.buffer, out.buffer});
}

template <>
void Expect(Recording& r, const Program& program, const ops::MatMul& op) {
  ExpectLinear(r, MatMulPipelineFor(program, op));
}

}  // namespace peruse::webgpu
