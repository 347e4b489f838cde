#include "core/backend/xnnpack/runner.h"

namespace peruse::xnnpack {

template <>
Status Run(Runner& r, const ops::Embed& op) {
  const Block out = r.View(op.out);
  r.SumRows(op, out.data, out.stride);
  return OkStatus();
}

}  // namespace peruse::xnnpack
