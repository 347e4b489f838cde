// ops::AlibiBias: the table of attention with linear biases.
#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::AlibiBias& op) {
  const Block out = r.View(op.out);
  ops::FillBiases(op, static_cast<int32_t>(out.rows), static_cast<int32_t>(out.cols), out.data, out.stride);
  return OkStatus();
}

}  // namespace peruse::cpu
