#include "core/cpu/lstm.h"

#include <algorithm>

#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

// Uses one thread, because each row depends on the previous one.
template <>
Status Run(Runner& r, const ops::Lstm& op) {
  const Block in = r.View(op.gates);
  const Block recurrent = r.View(op.recurrent);
  const float* const bias = r.View(op.bias).data;
  const Block out = r.View(op.out);
  const Scratch scratch(r, 5 * out.cols * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  float* const gates = scratch.floats();
  float* const c = gates + 4 * out.cols;
  std::fill_n(c, out.cols, 0.0f);
  const float* h = nullptr;
  for (int64_t step = 0; step < out.rows; ++step) {
    const int64_t t = op.reverse ? out.rows - 1 - step : step;
    LstmStep(in.row(t), bias, recurrent, h, gates, c, c, out.row(t));
    h = out.row(t);
  }
  return OkStatus();
}

}  // namespace peruse::cpu
