#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

Status Project(Runner& r, const Block& x, LinearId weight, Activation activation, const Block& out,
               int64_t first_output) {
  const PackedLinear& packed = r.linear(weight);
  const Scratch scratch(r, packed.Scratch(x.rows, r.pool().threads()) * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  packed.Run(r.pool(), x, packed.depth(), first_output, activation, scratch.floats(), out);
  return OkStatus();
}

template <>
Status Run(Runner& r, const ops::Linear& op) {
  const Block out = r.View(op.out);
  PERUSE_RETURN_IF_ERROR(Project(r, r.View(op.x), op.weight, op.activation, out, op.first));
  // Factor and norm are applied in an extra pass over `out`, which costs less than reading the weights once per tile of rows.
  if (op.factor.valid()) MultiplyBlocks(r.pool(), out, r.View(op.factor), out);
  if (op.norm.valid()) AddNormRows(r.pool(), out, r.View(op.residual), r.View(op.norm), out);
  return OkStatus();
}

}  // namespace peruse::cpu
