#include <algorithm>

#include "core/backend/cpu/runner.h"
#include "core/cpu/activations.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

// Adds the sum of h[k] * row k to kVectors vectors of g from `column` on. The sums stay in registers.
template <int kVectors>
[[gnu::noinline]] void AddColumns(const Block& recurrent, int64_t column, const float* h, float* g) {
  simd::Floats sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = simd::Load(g + column + v * simd::kLanes);
  for (int64_t k = 0; k < recurrent.rows; ++k) {
    const float* const row = recurrent.row(k) + column;
    const simd::Floats value = simd::Set(h[k]);
    for (int v = 0; v < kVectors; ++v) sums[v] = simd::Madd(value, simd::Load(row + v * simd::kLanes), sums[v]);
  }
  for (int v = 0; v < kVectors; ++v) simd::Store(sums[v], g + column + v * simd::kLanes);
}

void AddProduct(const Block& recurrent, const float* h, float* g) {
  constexpr int kVectors = 8;
  int64_t column = 0;
  for (; column + kVectors * simd::kLanes <= recurrent.cols; column += kVectors * simd::kLanes) {
    AddColumns<kVectors>(recurrent, column, h, g);
  }
  for (; column + simd::kLanes <= recurrent.cols; column += simd::kLanes) AddColumns<1>(recurrent, column, h, g);
  for (; column < recurrent.cols;
       ++column) {  // only with more lanes than four: the gates are a multiple of four columns
    for (int64_t k = 0; k < recurrent.rows; ++k) g[column] += h[k] * recurrent.row(k)[column];
  }
}

}  // namespace

// Uses one thread, because each row depends on the previous one.
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
    simd::Map2(from, bias, g, 4 * width, [](simd::Floats x, simd::Floats y) { return simd::hn::Add(x, y); });
    if (h != nullptr) AddProduct(recurrent, h, g);
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

}  // namespace peruse::cpu
