#include <algorithm>

#include "core/backend/xnnpack/activations.h"
#include "core/backend/xnnpack/runner.h"

namespace peruse::xnnpack {

// Uses one thread, because each row depends on the previous one. Compilers vectorize the plain loops over columns.
template <>
Status Run(Runner& r, const ops::Lstm& op) {
  const Block gates = r.View(op.gates);
  const Block recurrent = r.View(op.recurrent);
  const float* const bias = r.View(op.bias).data;
  const Block out = r.View(op.out);
  const int64_t width = out.cols;
  const Scratch scratch(r, 6 * width * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  float* const g = scratch.floats();  // [i | f | g | o]
  float* const c = g + 4 * width;
  float* const squashed = c + width;
  std::fill_n(c, width, 0.0f);
  const float* h = nullptr;
  for (int64_t step = 0; step < out.rows; ++step) {
    const int64_t t = op.reverse ? out.rows - 1 - step : step;
    const float* const from = gates.row(t);
    for (int64_t j = 0; j < 4 * width; ++j) g[j] = from[j] + bias[j];
    for (int64_t k = 0; h != nullptr && k < width; ++k) {
      const float value = h[k];
      const float* const row = recurrent.row(k);
      for (int64_t j = 0; j < 4 * width; ++j) g[j] += value * row[j];
    }
    ActivateRow(g, 2 * width, Activation::kSigmoid, g);
    ActivateRow(g + 2 * width, width, Activation::kTanh, g + 2 * width);
    ActivateRow(g + 3 * width, width, Activation::kSigmoid, g + 3 * width);
    for (int64_t k = 0; k < width; ++k) c[k] = g[width + k] * c[k] + g[k] * g[2 * width + k];
    ActivateRow(c, width, Activation::kTanh, squashed);
    float* const result = out.row(t);
    for (int64_t k = 0; k < width; ++k) result[k] = g[3 * width + k] * squashed[k];
    h = result;
  }
  return OkStatus();
}

}  // namespace peruse::xnnpack
