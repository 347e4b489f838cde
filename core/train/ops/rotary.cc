// Rotary position embeddings. Positions are integers, so the angles do not have gradients.
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

template <typename Visit>
void ForEachPair(Tape& t, const Block& x, int64_t head_dim, Visit visit) {
  const int64_t half = head_dim / 2;
  t.workers().ForPieces(x.rows, 1, 4 * x.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      for (int64_t head = 0; head < x.cols; head += head_dim) {
        for (int64_t j = 0; j < half; ++j) visit(r, head + j, head + half + j, j);
      }
    }
  });
}

}  // namespace

template <>
void Forward(const ops::RotaryAngles& op, Tape& t) {
  const Block out = t.value(op.out);
  ops::FillAngles(op, t.at(op.positions), static_cast<int32_t>(out.cols), out.data, out.stride);
}
template <>
void Backward(const ops::RotaryAngles&, Tape&) {}

template <>
void Forward(const ops::Rotate& op, Tape& t) {
  const Block x = t.value(op.x), angles = t.value(op.angles), out = t.value(op.out);
  ForEachPair(t, out, angles.cols, [&](int64_t r, int64_t a, int64_t b, int64_t j) {
    const float cosine = angles.row(r)[j], sine = angles.row(r)[angles.cols / 2 + j];
    out.row(r)[a] = cosine * x.row(r)[a] - sine * x.row(r)[b];
    out.row(r)[b] = cosine * x.row(r)[b] + sine * x.row(r)[a];
  });
}

template <>
void Backward(const ops::Rotate& op, Tape& t) {
  const Block x = t.value(op.x), angles = t.value(op.angles), out = t.gradient(op.out);
  const int64_t half = angles.cols / 2;
  const Block to = t.wants(op.x) ? t.Accumulator(op.x) : Block();
  const Block to_angles = t.wants(op.angles) ? t.Accumulator(op.angles) : Block();
  ForEachPair(t, out, angles.cols, [&](int64_t r, int64_t a, int64_t b, int64_t j) {
    const float first = out.row(r)[a], second = out.row(r)[b];
    if (to) {
      const float cosine = angles.row(r)[j], sine = angles.row(r)[half + j];
      to.row(r)[a] += cosine * first + sine * second;
      to.row(r)[b] += cosine * second - sine * first;
    }
    if (to_angles) {
      to_angles.row(r)[j] += first * x.row(r)[a] + second * x.row(r)[b];
      to_angles.row(r)[half + j] += second * x.row(r)[a] - first * x.row(r)[b];
    }
  });
}

}  // namespace peruse::train
