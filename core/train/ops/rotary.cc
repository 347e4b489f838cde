// Rotary position embeddings. Positions are integers, so the angles do not have gradients.
#include "core/cpu/rotary.h"

#include "core/train/memory/tape.h"

namespace peruse::train {

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
  t.workers().ForPieces(x.rows, 1, 4 * x.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      cpu::RotateRow(x.row(r), x.cols, angles.row(r), angles.cols, out.row(r));
    }
  });
}

template <>
void Backward(const ops::Rotate& op, Tape& t) {
  const Block x = t.value(op.x), angles = t.value(op.angles), out = t.gradient(op.out);
  const int64_t half = angles.cols / 2;
  const Block to = t.wants(op.x) ? t.Accumulator(op.x) : Block();
  const Block to_angles = t.wants(op.angles) ? t.Accumulator(op.angles) : Block();
  t.workers().ForPieces(x.rows, 1, 4 * x.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float *cosines = angles.row(r), *sines = cosines + half;
      for (int64_t head = 0; head < x.cols; head += angles.cols) {
        const float *first = out.row(r) + head, *second = first + half, *in = x.row(r) + head;
        for (int64_t j = 0; to && j < half; ++j) {
          to.row(r)[head + j] += cosines[j] * first[j] + sines[j] * second[j];
          to.row(r)[head + half + j] += cosines[j] * second[j] - sines[j] * first[j];
        }
        for (int64_t j = 0; to_angles && j < half; ++j) {
          to_angles.row(r)[j] += first[j] * in[j] + second[j] * in[half + j];
          to_angles.row(r)[half + j] += second[j] * in[j] - first[j] * in[half + j];
        }
      }
    }
  });
}

}  // namespace peruse::train
