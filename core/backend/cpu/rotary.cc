#include "core/cpu/rotary.h"

#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::RotaryAngles& op) {
  const Block out = r.View(op.out);
  ops::FillAngles(op, r.at(op.positions), static_cast<int32_t>(out.cols), out.data, out.stride);
  return OkStatus();
}

template <>
Status Run(Runner& r, const ops::Rotate& op) {
  const Block x = r.View(op.x), angles = r.View(op.angles), out = r.View(op.out);
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      RotateRow(x.row(row), x.cols, angles.row(row), angles.cols, out.row(row));
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
