// Operations that are matrix products: linear layers, convolutions over tokens, products of two computed matrices.
#include <algorithm>

#include "core/cpu/simd.h"
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

struct Group {
  int64_t in;
  int64_t out;
  Operand weight;  // [out, in]
  int64_t first;   // first row in the weight
};

template <typename Visit>
void ForEachGroup(const LinearParameter& linear, Visit visit) {
  const int64_t groups = linear.spec.groups;
  const int64_t in = linear.spec.in / groups, out = linear.spec.out / groups;
  for (int64_t g = 0; g < groups; ++g) visit(g, Group{in, out, {linear.weight + g * out * in, in, 1}, g * out});
}

void Apply(Tape& t, const LinearParameter& linear, const Block& x, const Block& out) {
  t.workers().ForPieces(out.rows, 1, out.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) std::copy_n(linear.bias, out.cols, out.row(r));
  });
  ForEachGroup(linear, [&](int64_t g, const Group& group) {
    t.workers().Multiply(x.rows, group.out, group.in, x.Columns(g * group.in, group.in).operand(),
                         group.weight.Transposed(), out.data + group.first, out.stride, /*add=*/true);
  });
}

void AddGradients(Tape& t, const LinearParameter& linear, const Block& x, const Block& out) {
  if (linear.bias_gradient != nullptr) {
    t.workers().ForPieces(out.cols, simd::kLanes, out.rows, [&](int64_t first, int64_t end) {
      float* const sums = linear.bias_gradient + first;
      for (int64_t r = 0; r < out.rows; ++r) {
        simd::Map2(sums, out.row(r) + first, sums, end - first,
                   [](simd::Floats a, simd::Floats b) { return simd::hn::Add(a, b); });
      }
    });
  }
  if (linear.weight_gradient == nullptr) return;
  ForEachGroup(linear, [&](int64_t g, const Group& group) {
    t.workers().Multiply(group.out, group.in, x.rows, out.Columns(group.first, group.out).operand().Transposed(),
                         x.Columns(g * group.in, group.in).operand(), linear.weight_gradient + group.first * group.in,
                         group.in,
                         /*add=*/true);
  });
}

// Computes gradient W into `to`, or adds it with `add`.
void Return(Tape& t, const LinearParameter& linear, const Block& gradient, const Block& to, bool add) {
  ForEachGroup(linear, [&](int64_t g, const Group& group) {
    t.workers().Multiply(gradient.rows, group.in, group.out, gradient.Columns(group.first, group.out).operand(),
                         group.weight, to.data + g * group.in, to.stride, add);
  });
}

// Copies the inputs of each token's window, [groups, kernel_size, width], zero outside its text. With `add`, adds windows back to x.
void Unfold(const ops::Conv1d& op, const Tape& t, int64_t groups, const Block& x, const Block& windows, bool add) {
  const int64_t width = x.cols / groups;
  const int64_t half = (op.kernel_size - 1) / 2;
  t.workers().For(t.batch().sequences(), [&](int32_t, int64_t s) {
    const int64_t start = t.batch().start(static_cast<int32_t>(s)),
                  end = start + t.batch().length(static_cast<int32_t>(s));
    for (int64_t row = start; row < end; ++row) {
      for (int64_t tap = 0; tap < op.kernel_size; ++tap) {
        const int64_t source = row + tap - half;
        if (source < start || source >= end) continue;
        for (int64_t g = 0; g < groups; ++g) {
          float* window = windows.row(row) + (g * op.kernel_size + tap) * width;
          float* from = x.row(source) + g * width;
          for (int64_t c = 0; c < width; ++c) add ? void(from[c] += window[c]) : void(window[c] = from[c]);
        }
      }
    }
  });
}

Block Windows(const ops::Conv1d& op, Tape& t) {
  const int64_t in = t.at(op.weight).spec.in;
  return {t.scratch(), t.value(op.x).rows, in, in};
}

}  // namespace

template <>
void Forward(const ops::Linear& op, Tape& t) {
  PERUSE_CHECK(op.plain());
  Apply(t, t.at(op.weight), t.value(op.x), t.value(op.out));
}
template <>
void Backward(const ops::Linear& op, Tape& t) {
  const LinearParameter& linear = t.at(op.weight);
  AddGradients(t, linear, t.value(op.x), t.gradient(op.out));
  if (!t.wants(op.x)) return;
  bool add = false;
  const Block to = t.Destination(op.x, &add);
  Return(t, linear, t.gradient(op.out), to, add);
}

template <>
void Forward(const ops::Conv1d& op, Tape& t) {
  PERUSE_CHECK(op.activation == Activation::kNone);
  const LinearParameter& linear = t.at(op.weight);
  const Block windows = Windows(op, t);
  Fill(windows, 0);
  Unfold(op, t, linear.spec.groups, t.value(op.x), windows, /*add=*/false);
  Apply(t, linear, windows, t.value(op.out));
}
template <>
void Backward(const ops::Conv1d& op, Tape& t) {
  const LinearParameter& linear = t.at(op.weight);
  const Block windows = Windows(op, t);
  Fill(windows, 0);
  Unfold(op, t, linear.spec.groups, t.value(op.x), windows, /*add=*/false);
  AddGradients(t, linear, windows, t.gradient(op.out));
  if (!t.wants(op.x)) return;
  Return(t, linear, t.gradient(op.out), windows, /*add=*/false);
  Unfold(op, t, linear.spec.groups, t.Accumulator(op.x), windows, /*add=*/true);
}

template <>
void Forward(const ops::MatMul& op, Tape& t) {
  const Block x = t.value(op.x), y = t.value(op.y), out = t.value(op.out);
  t.workers().Multiply(x.rows, y.rows, x.cols, x.operand(), y.operand().Transposed(), out.data, out.stride,
                       /*add=*/false);
}
template <>
void Backward(const ops::MatMul& op, Tape& t) {
  const Block x = t.value(op.x), y = t.value(op.y), out = t.gradient(op.out);
  bool add = false;
  if (t.wants(op.x)) {
    const Block to = t.Destination(op.x, &add);
    t.workers().Multiply(x.rows, x.cols, y.rows, out.operand(), y.operand(), to.data, to.stride, add);
  }
  if (t.wants(op.y)) {
    const Block to = t.Destination(op.y, &add);
    t.workers().Multiply(y.rows, y.cols, x.rows, out.operand().Transposed(), x.operand(), to.data, to.stride, add);
  }
}

}  // namespace peruse::train
