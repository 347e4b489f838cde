#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::SelectRows& op) {
  const Block x = r.View(op.x);
  const Block out = r.View(op.out);
  const std::span<const int32_t> rows = r.at(op.rows);
  for (int64_t i = 0; i < out.rows; ++i) {
    const int32_t row = rows[static_cast<size_t>(i)];
    CopyBlock({x.row(row), 1, x.cols, x.stride}, {out.row(i), 1, out.cols, out.stride});
  }
  return OkStatus();
}

}  // namespace peruse::cpu
