#include "core/ops/input.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Input& op, const Shapes&) { return op.number >= 0 && op.out.valid(); }

void Compute(const Input& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  const std::span<const float> values = n.inputs[static_cast<size_t>(op.number)];
  PERUSE_CHECK(static_cast<int64_t>(values.size()) == int64_t{out.rows} * out.cols);
  for (size_t i = 0; i < values.size(); ++i) {
    out(static_cast<int64_t>(i) / out.cols, static_cast<int64_t>(i) % out.cols) = values[i];
  }
}

void Gradient(const Input&, const Numbers&, const Gradients&) {}

std::vector<double> Bound(const Input&, Value result, const Numbers& n) {
  return ForEachCell(n(result), [](int32_t, int32_t) { return 0.0; });
}

}  // namespace peruse::ops
