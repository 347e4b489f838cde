// The shapes that each operation of Backend requires, checked once for every backend. A violation is a fault of
// ours, never of input.
#pragma once

#include <initializer_list>

#include "core/backend/backend.h"
#include "core/backend/quantize.h"

namespace peruse {

// Whether two handles name a common element.
inline bool Overlap(Tensor a, Tensor b) {
  return a.buffer == b.buffer && a.first_col < b.first_col + b.cols && b.first_col < a.first_col + a.cols;
}

inline void CheckShape(Tensor x, int32_t rows, int32_t cols) {
  PERUSE_CHECK(x.valid() && x.rows == rows && x.cols == cols);
}

// An output of the stated shape that shares no memory with the inputs (invalid inputs are those left out).
inline void CheckOutput(Tensor out, int32_t rows, int32_t cols, std::initializer_list<Tensor> inputs) {
  CheckShape(out, rows, cols);
  for (const Tensor& input : inputs) PERUSE_CHECK(!input.valid() || !Overlap(out, input));
}

inline void CheckSpec(const LinearSpec& spec) {
  PERUSE_CHECK(spec.in > 0 && spec.out > 0 && spec.groups > 0);
  PERUSE_CHECK(spec.in % spec.groups == 0 && spec.out % spec.groups == 0);
}

// Sums of int8 products have 32 bits; a linear of more inputs than they hold is refused.
inline Status CheckInt8Depth(const LinearSpec& spec) {
  if (spec.precision != Precision::kQ8 || InputLevels(spec.in / spec.groups, spec.wide_input) > 0) return OkStatus();
  return Unsupported("dtype q8 takes linear layers of up to 133,144 inputs, not " +
                     std::to_string(spec.in / spec.groups));
}

// Rows [first, first + values / width) of a linear.
inline void CheckRows(const LinearSpec& spec, int32_t first, size_t values, int64_t width) {
  const int64_t count = static_cast<int64_t>(values);
  PERUSE_CHECK(first >= 0 && count % width == 0 && first + count / width <= spec.out);
}

// Weights come as the precision says: floats (WriteLinear) or int8 (WriteInt8, WriteScales).
inline void CheckWrite(const LinearSpec& spec, bool int8) { PERUSE_CHECK((spec.precision == Precision::kQ8) == int8); }

inline void CheckNorm(const Norm& norm, int32_t width) {
  CheckShape(norm.weight, 1, width);
  CheckShape(norm.bias, 1, width);
  PERUSE_CHECK(norm.eps >= 0);
}

inline void CheckLinear(Tensor x, Weight weight, Tensor out) {
  PERUSE_CHECK(weight.valid());
  CheckShape(x, x.rows, weight.in);
  CheckOutput(out, x.rows, weight.out, {x});
}

inline void CheckAttention(const AttentionArgs& args, const RaggedBatch& batch, Tensor out) {
  const int32_t rows = batch.rows();
  const int32_t width = args.query.cols;
  PERUSE_CHECK(args.heads > 0 && width % args.heads == 0 && args.scale >= 0);
  CheckShape(args.query, rows, width);
  CheckShape(args.key, rows, width);
  CheckShape(args.value, rows, width);
  CheckOutput(out, rows, width, {args.query, args.key, args.value});
  if (args.probabilities.valid()) {
    CheckOutput(args.probabilities, rows * args.heads, batch.longest(), {args.query, args.key, args.value, out});
  }
}

inline void CheckPositions(const AttentionArgs& args, const RelativePositions& positions, const RaggedBatch& batch) {
  int32_t slots = 0;
  for (const Tensor& table : {positions.position_key, positions.position_query}) {
    if (!table.valid()) continue;
    CheckShape(table, table.rows, args.query.cols);
    PERUSE_CHECK(slots == 0 || slots == table.rows);
    slots = table.rows;
  }
  if (slots == 0) return;
  PERUSE_CHECK(positions.reach >= batch.longest());
  PERUSE_CHECK(static_cast<int64_t>(positions.slots.size()) == 2 * int64_t{positions.reach} - 1);
  for (int32_t slot : positions.slots) PERUSE_CHECK(slot >= 0 && slot < slots);
}

inline void CheckDepthwiseConv(Tensor x, Tensor taps, const RaggedBatch& batch, Tensor out) {
  PERUSE_CHECK(taps.rows % 2 == 1);
  CheckShape(x, batch.rows(), x.cols);
  CheckShape(taps, taps.rows, x.cols);
  CheckOutput(out, x.rows, x.cols, {x, taps});
}

inline void CheckSpanConv(Tensor logits, Tensor values, int32_t heads, const RaggedBatch& batch, Tensor out,
                          Tensor kernels) {
  PERUSE_CHECK(heads > 0 && logits.cols % heads == 0 && values.cols % heads == 0);
  PERUSE_CHECK((logits.cols / heads) % 2 == 1);
  CheckShape(logits, batch.rows(), logits.cols);
  CheckShape(values, batch.rows(), values.cols);
  CheckOutput(out, values.rows, values.cols, {logits, values});
  if (kernels.valid()) CheckOutput(kernels, logits.rows, logits.cols, {logits, values, out});
}

inline void CheckLinearSpanConv(Tensor x, Weight weight, Tensor values, int32_t heads, const RaggedBatch& batch,
                                Tensor out, Tensor kernels) {
  PERUSE_CHECK(weight.valid() && heads > 0 && weight.out % heads == 0 && values.cols % heads == 0);
  PERUSE_CHECK((weight.out / heads) % 2 == 1);
  CheckShape(x, batch.rows(), weight.in);
  CheckShape(values, batch.rows(), values.cols);
  CheckOutput(out, values.rows, values.cols, {x, values});
  if (kernels.valid()) CheckOutput(kernels, x.rows, weight.out, {x, values, out});
}

inline void CheckConv1d(Tensor x, Weight weight, int32_t kernel_size, const RaggedBatch& batch, Tensor out) {
  PERUSE_CHECK(weight.valid() && kernel_size > 0 && kernel_size % 2 == 1);
  CheckShape(x, batch.rows(), x.cols);
  PERUSE_CHECK(weight.in == int64_t{kernel_size} * x.cols);
  CheckOutput(out, x.rows, weight.out, {x});
}

}  // namespace peruse
