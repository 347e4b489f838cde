#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::Embed& op) {
  const Block out = r.View(op.out);
  r.SumRows(op, out.data, out.stride);
  return OkStatus();
}

}  // namespace peruse::cpu
