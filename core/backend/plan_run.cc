#include "core/backend/plan_run.h"

#include <algorithm>

namespace peruse {

Tensor PlanRun::at(Value value) const {
  if (!value.valid()) return Tensor();
  const Program& program = plan_->program;
  const ValueInfo& info = program.info(value);
  const ValueInfo& root = program.info(program.Root(value));
  if (root.constant >= 0) {
    const Tensor constant = weights_->constants[static_cast<size_t>(root.constant)];
    return info.base < 0 ? constant : constant.Columns(info.first_col, info.cols.factor);
  }
  return {plan_->slot_of[static_cast<size_t>(value.id)], size(info.rows), size(info.cols), size(root.cols),
          info.first_col};
}

void PlanRun::SumRows(const ops::Embed& op, float* out, int64_t stride) const {
  const Tensor x = at(op.out);
  for (int32_t row = 0; row < x.rows; ++row, out += stride) {
    const std::span<float> sum(out, static_cast<size_t>(x.cols));
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (const ops::Embed::Lookup& lookup : op.lookups) {
      if (!lookup.index.valid()) continue;
      tables()[static_cast<size_t>(lookup.table.id)].AddRow(at(lookup.index)[static_cast<size_t>(row)], sum);
    }
    if (op.scale == 1) continue;
    for (float& element : sum) element *= op.scale;
  }
}

}  // namespace peruse
