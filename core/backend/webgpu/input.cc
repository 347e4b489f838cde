#include <algorithm>

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::Input& op) {
  const std::span<const float> values = r.at(op);
  const Tensor out = r.at(op.out);
  PERUSE_CHECK(static_cast<int64_t>(values.size()) == int64_t{out.rows} * out.cols);
  r.Upload(op.out, [&](float* room) { std::copy(values.begin(), values.end(), room); });
}

// Announces nothing: at most the copy pipeline is needed, which the first call compiles.
template <>
void Expect(Recording&, const Program&, const ops::Input&) {}

}  // namespace peruse::webgpu
