#include "core/cpu/lstm.h"

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

void LstmStep(const float* x, const float* bias, const Block& recurrent, const float* h, float* gates, const float* c,
              float* next_c, float* out) {
  const int64_t width = recurrent.rows;
  simd::Map2(x, bias, gates, 4 * width, [](simd::Floats a, simd::Floats b) { return simd::hn::Add(a, b); });
  if (h != nullptr) AddProduct(recurrent, h, gates);
  const float *i = gates, *f = gates + width, *g = gates + 2 * width, *o = gates + 3 * width;
  ActivateRow(gates, 2 * width, Activation::kSigmoid, gates);
  ActivateRow(g, width, Activation::kTanh, gates + 2 * width);
  ActivateRow(o, width, Activation::kSigmoid, gates + 3 * width);
  for (int64_t k = 0; k < width; ++k) next_c[k] = f[k] * c[k] + i[k] * g[k];
  ActivateRow(next_c, width, Activation::kTanh, out);
  for (int64_t k = 0; k < width; ++k) out[k] *= o[k];
}

}  // namespace peruse::cpu
