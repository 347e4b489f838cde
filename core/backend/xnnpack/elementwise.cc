#include "core/backend/xnnpack/elementwise.h"

#include <cstring>

#include "core/backend/xnnpack/activations.h"
#include "core/backend/xnnpack/simd.h"

namespace peruse::xnnpack {
namespace {

using namespace simd;  // NOLINT: this file is vector code throughout

constexpr int64_t kLeastRows = 16;  // worth a thread's while

}  // namespace

void CopyBlock(const Block& x, const Block& out) {
  for (int64_t r = 0; r < x.rows; ++r) {
    std::memcpy(out.row(r), x.row(r), static_cast<size_t>(x.cols) * sizeof(float));
  }
}

void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out) {
  pool.ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      Map2(x.row(r), y.row(r), out.row(r), x.cols, [](Floats a, Floats b) { return hn::Mul(a, b); });
    }
  });
}

void AddBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out) {
  pool.ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      Map2(x.row(r), y.row(y.rows == 1 ? 0 : r), out.row(r), x.cols, [](Floats a, Floats b) { return hn::Add(a, b); });
    }
  });
}

void ActivateBlock(const ThreadPool& pool, const Block& x, Activation activation, const Block& out) {
  pool.ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) ActivateRow(x.row(r), x.cols, activation, out.row(r));
  });
}

}  // namespace peruse::xnnpack
