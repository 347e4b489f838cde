// The threads of a training run, and the matrix products of each thread. Results are bit-identical for any number of threads: every sum
// belongs to one task, which adds in the order of a single thread. So operations are split by rows if rows are independent, and by columns
// if a gradient is a sum over rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/cpu/product.h"
#include "core/cpu/thread_pool.h"

namespace peruse::train {

using cpu::Operand;
using cpu::Products;

class Workers {
 public:
  // Errors: kOutOfMemory; kUnsupported if several threads are requested in a build without threads.
  static Result<std::shared_ptr<Workers>> Create(int32_t threads);

  int32_t threads() const { return pool_.threads(); }
  // Returns the products of the thread that runs the current task.
  Products& products(int32_t thread) { return products_[static_cast<size_t>(thread)]; }

  // Calls task(thread, index) for every index in [0, count), in any thread and any order.
  template <typename Task>
  void For(int64_t count, const Task& task) const {
    Split(count, 1, kLeastCost, OfIndices<Task>, &task);
  }

  // Splits [0, count) into pieces that begin at multiples of `unit`, and calls task(first, end) for each. `cost` is the number of
  // operations per element; cheap work is not split.
  template <typename Task>
  void ForPieces(int64_t count, int64_t unit, int64_t cost, const Task& task) const {
    Split(count, unit, cost, OfPieces<Task>, &task);
  }

  void Multiply(int64_t m, int64_t n, int64_t k, const Operand& a, const Operand& b, float* c, int64_t c_stride,
                bool add);

 private:
  using Call = void (*)(const void* task, int32_t thread, int64_t first, int64_t end);
  static constexpr int64_t kLeastCost = 1 << 14;  // minimum cost of a piece, so that handing it to a thread pays off

  explicit Workers(cpu::ThreadPool pool) : pool_(std::move(pool)) {}

  template <typename Task>
  static void OfIndices(const void* task, int32_t thread, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) (*static_cast<const Task*>(task))(thread, i);
  }
  template <typename Task>
  static void OfPieces(const void* task, int32_t, int64_t first, int64_t end) {
    (*static_cast<const Task*>(task))(first, end);
  }
  // Not a template, so that small builds contain one copy.
  void Split(int64_t count, int64_t unit, int64_t cost, Call call, const void* task) const;

  cpu::ThreadPool pool_;
  std::vector<Products> products_;  // indexed by thread
};

}  // namespace peruse::train
