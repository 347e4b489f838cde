#include <algorithm>

#include "core/cpu/activations.h"
#include "core/cpu/dot.h"
#include "core/cpu/simd.h"
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

using cpu::Dot;
using simd::Floats;

// Calls visit(row, tap, source) for every row of a text, every tap, and the source row that the tap reads, if it is in the text.
template <typename Visit>
void ForEachTapOfText(const RaggedBatch& batch, int32_t text, int64_t taps, Visit visit) {
  const int64_t start = batch.start(text), end = start + batch.length(text);
  for (int64_t row = start; row < end; ++row) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t source = row + tap - (taps - 1) / 2;
      if (source >= start && source < end) visit(row, tap, source);
    }
  }
}

// Like ForEachTapOfText for all texts. Threads share the channels: visit(first channel, number of channels, row, tap, source).
template <typename Visit>
void ForEachTap(Tape& t, int64_t taps, int64_t channels, Visit visit) {
  t.workers().ForPieces(channels, 4 * simd::kLanes, t.batch().rows() * taps, [&](int64_t first, int64_t end) {
    for (int32_t text = 0; text < t.batch().sequences(); ++text) {
      ForEachTapOfText(t.batch(), text, taps,
                       [&](int64_t row, int64_t tap, int64_t source) { visit(first, end - first, row, tap, source); });
    }
  });
}

// Like ForEachTapOfText for all texts. Threads share the heads: visit(head, row, tap, source).
template <typename Visit>
void ForEachTapOfHeads(const ops::SpanConv& op, Tape& t, Visit visit) {
  t.workers().For(t.batch().sequences() * op.heads, [&](int32_t, int64_t task) {
    const int64_t head = task % op.heads;
    ForEachTapOfText(t.batch(), static_cast<int32_t>(task / op.heads), op.kernel_size,
                     [&](int64_t row, int64_t tap, int64_t source) { visit(head, row, tap, source); });
  });
}

void AddProducts(const float* x, const float* y, int64_t count, float* out) {
  int64_t i = 0;
  for (; i + simd::kLanes <= count; i += simd::kLanes) {
    simd::Store(simd::Madd(simd::Load(x + i), simd::Load(y + i), simd::Load(out + i)), out + i);
  }
  for (; i < count; ++i) out[i] += x[i] * y[i];
}
void AddScaled(const float* x, float factor, int64_t count, float* out) {
  const Floats factors = simd::Set(factor);
  int64_t i = 0;
  for (; i + simd::kLanes <= count; i += simd::kLanes) {
    simd::Store(simd::Madd(simd::Load(x + i), factors, simd::Load(out + i)), out + i);
  }
  for (; i < count; ++i) out[i] += x[i] * factor;
}

Block Kernels(const ops::SpanConv& op, Tape& t) {
  const Block logits = t.value(op.logits);
  const Block kernels = {t.scratch(), logits.rows, logits.cols, logits.cols};
  t.workers().ForPieces(logits.rows, 1, 16 * logits.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      cpu::SoftmaxGroups(logits.row(r), op.heads, op.kernel_size, kernels.row(r));
    }
  });
  return kernels;
}

}  // namespace

template <>
void Forward(const ops::DepthwiseConv& op, Tape& t) {
  const Block x = t.value(op.x), taps = t.value(op.taps), out = t.value(op.out);
  Fill(out, 0);
  ForEachTap(t, taps.rows, x.cols, [&](int64_t first, int64_t count, int64_t row, int64_t tap, int64_t source) {
    AddProducts(taps.row(tap) + first, x.row(source) + first, count, out.row(row) + first);
  });
}
template <>
void Backward(const ops::DepthwiseConv& op, Tape& t) {
  const Block x = t.value(op.x), taps = t.value(op.taps), out = t.gradient(op.out);
  const Block to = t.wants(op.x) ? t.Accumulator(op.x) : Block();
  const Block taps_to = t.wants(op.taps) ? t.Accumulator(op.taps) : Block();
  ForEachTap(t, taps.rows, x.cols, [&](int64_t first, int64_t count, int64_t row, int64_t tap, int64_t source) {
    const float* from = out.row(row) + first;
    if (to) AddProducts(taps.row(tap) + first, from, count, to.row(source) + first);
    if (taps_to) AddProducts(x.row(source) + first, from, count, taps_to.row(tap) + first);
  });
}

template <>
void Forward(const ops::SpanConv& op, Tape& t) {
  PERUSE_CHECK(!op.weight.valid());
  const Block values = t.value(op.values), out = t.value(op.out), kernels = Kernels(op, t);
  const int64_t head_dim = values.cols / op.heads;
  Fill(out, 0);
  ForEachTapOfHeads(op, t, [&](int64_t h, int64_t row, int64_t tap, int64_t source) {
    AddScaled(values.row(source) + h * head_dim, kernels.row(row)[h * op.kernel_size + tap], head_dim,
              out.row(row) + h * head_dim);
  });
}
template <>
void Backward(const ops::SpanConv& op, Tape& t) {
  const Block values = t.value(op.values), out = t.gradient(op.out), kernels = Kernels(op, t);
  const int64_t head_dim = values.cols / op.heads;
  const Block gradients = {t.scratch() + kernels.rows * kernels.cols, kernels.rows, kernels.cols, kernels.cols};
  Fill(gradients, 0);
  const Block to = t.wants(op.values) ? t.Accumulator(op.values) : Block();
  ForEachTapOfHeads(op, t, [&](int64_t h, int64_t row, int64_t tap, int64_t source) {
    const int64_t cell = h * op.kernel_size + tap;
    const float* from = out.row(row) + h * head_dim;
    if (to) AddScaled(from, kernels.row(row)[cell], head_dim, to.row(source) + h * head_dim);
    gradients.row(row)[cell] = Dot(values.row(source) + h * head_dim, from, head_dim);
  });
  if (!t.wants(op.logits)) return;
  const Block logits_to = t.Accumulator(op.logits);
  t.workers().ForPieces(kernels.rows, 1, 4 * kernels.cols, [&](int64_t first_row, int64_t end_row) {
    for (int64_t r = first_row; r < end_row; ++r) {
      for (int64_t first = 0; first < kernels.cols; first += op.kernel_size) {
        const float mean = Dot(kernels.row(r) + first, gradients.row(r) + first, op.kernel_size);
        for (int64_t i = first; i < first + op.kernel_size; ++i) {
          logits_to.row(r)[i] += kernels.row(r)[i] * (gradients.row(r)[i] - mean);
        }
      }
    }
  });
}

}  // namespace peruse::train
