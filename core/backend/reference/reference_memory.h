// The reference backend's storage: constants, linear weights, and a workspace that grows and shrinks with scopes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "core/backend/backend.h"

namespace peruse::reference {

// `count` doubles, all `value`; null if there is no memory for them.
inline std::unique_ptr<double[]> AllocateDoubles(int64_t count, double value) {
  // What no machine has is refused here; an allocator may treat it as a fault of its caller.
  constexpr int64_t kLargest = std::min<int64_t>(std::numeric_limits<ptrdiff_t>::max(), int64_t{1} << 40);
  if (count > kLargest / static_cast<int64_t>(sizeof(double))) return nullptr;
  std::unique_ptr<double[]> values(new (std::nothrow) double[static_cast<size_t>(count)]);
  if (values) std::fill(values.get(), values.get() + count, value);
  return values;
}

// The elements that a handle names.
struct Matrix {
  double* data = nullptr;
  int32_t rows = 0;
  int32_t cols = 0;
  int64_t stride = 0;

  double& operator()(int64_t row, int64_t col) const { return data[row * stride + col]; }
};

struct LinearWeight {
  LinearSpec spec;
  std::unique_ptr<double[]> weight;  // [out, in / groups]; kQ8: the integers
  std::unique_ptr<double[]> bias;    // [out]
  std::unique_ptr<double[]> scale;   // [out], kQ8 only
};

class Memory {
 public:
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols) {
    auto values = AllocateDoubles(int64_t{rows} * cols, 0);
    if (!values) return OutOfMemory("no memory for a constant");
    constants_.push_back(std::move(values));
    weight_bytes_ += int64_t{rows} * cols * static_cast<int64_t>(sizeof(double));
    return Handle(kFirstConstant + static_cast<int32_t>(constants_.size()) - 1, rows, cols);
  }

  Result<Weight> CreateLinear(const LinearSpec& spec) {
    LinearWeight linear{spec, AllocateDoubles(int64_t{spec.out} * (spec.in / spec.groups), 0),
                        AllocateDoubles(spec.out, 0), AllocateDoubles(spec.out, 0)};
    if (!linear.weight || !linear.bias || !linear.scale) return OutOfMemory("no memory for a linear layer's weights");
    weight_bytes_ += LinearBytes(spec);
    linears_.push_back(std::move(linear));
    return Weight{static_cast<int32_t>(linears_.size()) - 1, spec.in, spec.out, spec.groups};
  }

  LinearWeight& linear(Weight weight) {
    PERUSE_CHECK(weight.id >= 0 && weight.id < static_cast<int32_t>(linears_.size()));
    PERUSE_CHECK(linears_[weight.id].weight != nullptr);  // not freed
    return linears_[weight.id];
  }

  void FreeLinear(Weight weight) {
    weight_bytes_ -= LinearBytes(linear(weight).spec);
    linear(weight) = {};
  }

  // A workspace matrix of NaN. Without memory the handle is still well-formed and *ok becomes false.
  Tensor New(int32_t rows, int32_t cols, bool* ok) {
    PERUSE_CHECK(rows >= 0 && cols >= 0);
    workspace_.push_back(AllocateDoubles(int64_t{rows} * cols, std::numeric_limits<double>::quiet_NaN()));
    if (!workspace_.back()) *ok = false;
    return Handle(static_cast<int32_t>(workspace_.size()) - 1, rows, cols);
  }

  int64_t mark() const { return static_cast<int64_t>(workspace_.size()); }
  void Release(int64_t mark) {
    PERUSE_CHECK(mark >= 0 && mark <= this->mark());
    workspace_.resize(static_cast<size_t>(mark));
  }

  Matrix View(Tensor x) const {
    const bool constant = x.buffer >= kFirstConstant;
    const auto& list = constant ? constants_ : workspace_;
    const size_t index = static_cast<size_t>(constant ? x.buffer - kFirstConstant : x.buffer);
    PERUSE_CHECK(x.valid() && index < list.size());
    return {list[index].get() + x.first_col, x.rows, x.cols, x.stride};
  }

  int64_t weight_bytes() const { return weight_bytes_; }

 private:
  static constexpr int32_t kFirstConstant = 1 << 30;  // buffers below are workspace

  static int64_t LinearBytes(const LinearSpec& spec) {
    return int64_t{spec.out} * (spec.in / spec.groups + 1) * static_cast<int64_t>(sizeof(double));
  }
  static Tensor Handle(int32_t buffer, int32_t rows, int32_t cols) { return {buffer, rows, cols, cols, 0}; }

  std::vector<std::unique_ptr<double[]>> constants_;
  std::vector<std::unique_ptr<double[]>> workspace_;
  std::vector<LinearWeight> linears_;
  int64_t weight_bytes_ = 0;
};

}  // namespace peruse::reference
