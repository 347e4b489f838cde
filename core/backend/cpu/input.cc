#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::Input& op) {
  const Block out = r.View(op.out);
  const std::span<const float> values = r.at(op);
  PERUSE_CHECK(static_cast<int64_t>(values.size()) == out.rows * out.cols);
  CopyBlock({const_cast<float*>(values.data()), out.rows, out.cols, out.cols}, out);
  return OkStatus();
}

}  // namespace peruse::cpu
