#include "core/train/memory/workers.h"

#include <algorithm>
#include <utility>

namespace peruse::train {

Result<std::shared_ptr<Workers>> Workers::Create(int32_t threads) {
  PERUSE_ASSIGN_OR_RETURN(cpu::ThreadPool pool, cpu::ThreadPool::Create(threads));
  std::shared_ptr<Workers> workers(new Workers(std::move(pool)));
  workers->products_.resize(static_cast<size_t>(threads));
  for (Products& products : workers->products_) PERUSE_RETURN_IF_ERROR(products.Allocate());
  return workers;
}

void Workers::Split(int64_t count, int64_t unit, int64_t cost, Call call, const void* task) const {
  if (count <= 0) return;
  const int64_t threads = pool_.threads();
  // Creates four pieces per thread, so that other threads do not wait long for a delayed one.
  const int64_t pieces = threads == 1 ? 1 : std::min(4 * threads, count * cost / kLeastCost);
  if (pieces <= 1) return call(task, 0, 0, count);
  const int64_t units = (count + unit - 1) / unit;
  const int64_t size = (units + pieces - 1) / pieces * unit;
  pool_.For((count + size - 1) / size, [&](int32_t thread, int64_t piece) {
    call(task, thread, piece * size, std::min(count, (piece + 1) * size));
  });
}

// Splits by columns of the result, so that no two threads pack the same part of b; by rows if b has few columns.
void Workers::Multiply(int64_t m, int64_t n, int64_t k, const Operand& a, const Operand& b, float* c, int64_t c_stride,
                       bool add) {
  constexpr int64_t kLeastCols = 64, kLeastRows = 24;  // multiples of the tile sizes of every kernel
  const bool by_cols = n >= 2 * kLeastCols;
  const auto run = [&](int32_t thread, int64_t first, int64_t end) {
    Operand left = a, right = b;
    if (by_cols) {
      right.data += first * b.col_stride;
      products(thread).Run(m, end - first, k, left, right, c + first, c_stride, add);
    } else {
      left.data += first * a.row_stride;
      products(thread).Run(end - first, n, k, left, right, c + first * c_stride, c_stride, add);
    }
  };
  const Call call = [](const void* task, int32_t thread, int64_t first, int64_t end) {
    (*static_cast<const decltype(run)*>(task))(thread, first, end);
  };
  by_cols ? Split(n, kLeastCols, m * k, call, &run) : Split(m, kLeastRows, n * k, call, &run);
}

}  // namespace peruse::train
