#include <algorithm>

#include "core/cpu/activations.h"
#include "core/cpu/simd.h"
#include "core/ops/reference.h"
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

using simd::Floats;
namespace hn = simd::hn;

void AddRow(const float* x, int64_t count, float* out) {
  simd::Map2(out, x, out, count, [](Floats a, Floats b) { return hn::Add(a, b); });
}
void AddProduct(const float* x, const float* y, int64_t count, float* out) {
  int64_t i = 0;
  for (; i + simd::kLanes <= count; i += simd::kLanes) {
    simd::Store(simd::Madd(simd::Load(x + i), simd::Load(y + i), simd::Load(out + i)), out + i);
  }
  for (; i < count; ++i) out[i] += x[i] * y[i];
}

// Returns row r, or the only row of a matrix with one row.
float* RowOf(const Block& block, int64_t r) { return block.row(block.rows == 1 ? 0 : r); }

// Calls visit(row) for every row. Rows are independent, so that threads share them.
template <typename Visit>
void ForRows(Tape& t, const Block& block, int64_t cost, Visit visit) {
  t.workers().ForPieces(block.rows, 1, cost * block.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) visit(r);
  });
}

// Calls visit(row, first column, number of columns) for every row, in order. Only columns are independent.
template <typename Visit>
void ForColumns(Tape& t, const Block& block, Visit visit) {
  t.workers().ForPieces(block.cols, 4 * simd::kLanes, block.rows, [&](int64_t first, int64_t end) {
    for (int64_t r = 0; r < block.rows; ++r) visit(r, first, end - first);
  });
}

// Adds the rows of a gradient to that of an operand, which may have only one row.
void ReturnRows(Tape& t, const Block& from, Value operand) {
  if (!t.wants(operand)) return;
  bool add = true;
  const Block to = t.value(operand).rows == from.rows ? t.Destination(operand, &add) : t.Accumulator(operand);
  ForColumns(t, from, [&](int64_t r, int64_t first, int64_t count) {
    float* const row = RowOf(to, r) + first;
    add ? AddRow(from.row(r) + first, count, row) : simd::Copy(from.row(r) + first, count, row);
  });
}

// The derivative of gelu, Phi(x) + x phi(x), with Phi by formula 7.1.26 of Abramowitz and Stegun (error 7.5e-8).
Floats GeluSlope(Floats x) {
  const auto set = [](float value) { return simd::Set(value); };
  const Floats size = hn::Abs(x);
  const Floats bell = simd::Exp(hn::Mul(hn::Mul(x, x), set(-0.5f)));
  const Floats t = hn::Div(set(1), simd::Madd(size, set(0.3275911f * 0.70710678f), set(1)));
  Floats p = simd::Madd(t, set(1.061405429f), set(-1.453152027f));
  p = simd::Madd(p, t, set(1.421413741f));
  p = simd::Madd(p, t, set(-0.284496736f));
  p = simd::Madd(p, t, set(0.254829592f));
  const Floats tail = hn::Mul(hn::Mul(hn::Mul(p, t), bell), set(0.5f));
  const Floats phi = hn::IfThenElse(hn::Lt(x, hn::Zero(simd::kTag)), tail, hn::Sub(set(1), tail));
  return simd::Madd(hn::Mul(x, bell), set(0.39894228f), phi);
}

}  // namespace

void Fill(const Block& block, float value) {
  for (int64_t r = 0; r < block.rows; ++r) std::fill_n(block.row(r), block.cols, value);
}

template <>
void Forward(const ops::Input& op, Tape& t) {
  const Block out = t.value(op.out);
  const std::span<const float> values = t.at(op);
  for (int64_t r = 0; r < out.rows; ++r) std::copy_n(values.data() + r * out.cols, out.cols, out.row(r));
}
// Does nothing: the caller reads the gradient with Step::input_gradient.
template <>
void Backward(const ops::Input&, Tape&) {}

template <>
void Forward(const ops::Embed& op, Tape& t) {
  PERUSE_CHECK(op.scale == 1);  // of families that are not trained
  const Block out = t.value(op.out);
  Fill(out, 0);
  for (const ops::Embed::Lookup& lookup : op.lookups) {
    if (!lookup.index.valid()) continue;
    ForRows(t, out, 1, [&](int64_t r) {
      AddRow(t.at(lookup.table).values.row(t.at(lookup.index)[static_cast<size_t>(r)]), out.cols, out.row(r));
    });
  }
}
template <>
void Backward(const ops::Embed& op, Tape& t) {
  const Block out = t.gradient(op.out);
  for (const ops::Embed::Lookup& lookup : op.lookups) {
    if (!lookup.index.valid() || !t.at(lookup.table).gradient) continue;
    ForColumns(t, out, [&](int64_t r, int64_t first, int64_t count) {
      const int32_t word = t.at(lookup.index)[static_cast<size_t>(r)];
      AddRow(out.row(r) + first, count, t.at(lookup.table).gradient.row(word) + first);
    });
  }
}

template <>
void Forward(const ops::Activate& op, Tape& t) {
  const Block x = t.value(op.x), out = t.value(op.out);
  ForRows(t, x, 16, [&](int64_t r) {
    if (op.activation == Activation::kNone) {
      std::copy_n(x.row(r), x.cols, out.row(r));
    } else {
      cpu::ActivateRow(x.row(r), x.cols, op.activation, out.row(r));
    }
  });
}
template <>
void Backward(const ops::Activate& op, Tape& t) {
  if (!t.wants(op.x)) return;
  bool add = false;
  const Block x = t.value(op.x), out = t.gradient(op.out), to = t.Destination(op.x, &add);
  ForRows(t, x, 16, [&](int64_t r) {
    const float* in = x.row(r);
    const float* from = out.row(r);
    float* sum = to.row(r);
    if (!add) std::fill_n(sum, x.cols, 0.0f);
    int64_t i = 0;
    for (; op.activation == Activation::kGelu && i + simd::kLanes <= x.cols; i += simd::kLanes) {
      simd::Store(simd::Madd(GeluSlope(simd::Load(in + i)), simd::Load(from + i), simd::Load(sum + i)), sum + i);
    }
    for (; i < x.cols; ++i) {
      sum[i] += from[i] * static_cast<float>(ops::ActivationSlope(static_cast<double>(in[i]), op.activation));
    }
  });
}

template <>
void Forward(const ops::Add& op, Tape& t) {
  const Block x = t.value(op.x), y = t.value(op.y), out = t.value(op.out);
  ForRows(t, out, 1, [&](int64_t r) {
    simd::Map2(x.row(r), RowOf(y, r), out.row(r), out.cols, [](Floats a, Floats b) { return hn::Add(a, b); });
  });
}
template <>
void Backward(const ops::Add& op, Tape& t) {
  for (const Value operand : {op.x, op.y}) ReturnRows(t, t.gradient(op.out), operand);
}

template <>
void Forward(const ops::Multiply& op, Tape& t) {
  const Block x = t.value(op.x), y = t.value(op.y), out = t.value(op.out);
  ForRows(t, out, 1, [&](int64_t r) {
    simd::Map2(x.row(r), RowOf(y, r), out.row(r), out.cols, [](Floats a, Floats b) { return hn::Mul(a, b); });
  });
}
template <>
void Backward(const ops::Multiply& op, Tape& t) {
  const Block out = t.gradient(op.out);
  const auto add = [&](Value operand, Value other) {
    if (!t.wants(operand)) return;
    const Block to = t.Accumulator(operand), factor = t.value(other);
    ForColumns(t, out, [&](int64_t r, int64_t first, int64_t count) {
      AddProduct(out.row(r) + first, RowOf(factor, r) + first, count, RowOf(to, r) + first);
    });
  };
  add(op.x, op.y);
  add(op.y, op.x);
}

template <>
void Forward(const ops::Concat& op, Tape& t) {
  const Block x = t.value(op.x), y = t.value(op.y), out = t.value(op.out);
  ForRows(t, out, 1, [&](int64_t r) {
    std::copy_n(x.row(r), x.cols, out.row(r));
    std::copy_n(y.row(r), y.cols, out.row(r) + x.cols);
  });
}
template <>
void Backward(const ops::Concat& op, Tape& t) {
  const Block out = t.gradient(op.out);
  const int64_t first = t.value(op.x).cols;
  ReturnRows(t, out.Columns(0, first), op.x);
  ReturnRows(t, out.Columns(first, out.cols - first), op.y);
}

template <>
void Forward(const ops::SelectRows& op, Tape& t) {
  const Block x = t.value(op.x), out = t.value(op.out);
  for (int64_t r = 0; r < out.rows; ++r) std::copy_n(x.row(t.at(op.rows)[static_cast<size_t>(r)]), x.cols, out.row(r));
}
template <>
void Backward(const ops::SelectRows& op, Tape& t) {
  if (!t.wants(op.x)) return;
  const Block out = t.gradient(op.out), to = t.Accumulator(op.x);
  for (int64_t r = 0; r < out.rows; ++r) AddRow(out.row(r), out.cols, to.row(t.at(op.rows)[static_cast<size_t>(r)]));
}

}  // namespace peruse::train
