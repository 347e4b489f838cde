#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {
namespace {

Status Refusal() { return Unsupported("a mixture of experts does not run on the GPU: load with device 'cpu'"); }

}  // namespace

template <>
void Record(Recording& r, const ops::Experts&) {
  r.Fail(Refusal());
}

template <>
void Expect(Recording& r, const Program&, const ops::Experts&) {
  r.Fail(Refusal());
}

}  // namespace peruse::webgpu
