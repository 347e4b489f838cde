#include "core/backend/cpu/runner.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

void RotateHead(const float* x, const float* angles, int64_t half, float* out) {
  const auto rotate = [](Floats a, Floats b, Floats cosine, Floats sine, Floats* first, Floats* second) {
    *first = hn::Sub(hn::Mul(cosine, a), hn::Mul(sine, b));
    *second = Madd(sine, a, hn::Mul(cosine, b));
  };
  Floats first, second;
  int64_t j = 0;
  for (; j + kLanes <= half; j += kLanes) {
    rotate(Load(x + j), Load(x + half + j), Load(angles + j), Load(angles + half + j), &first, &second);
    Store(first, out + j);
    Store(second, out + half + j);
  }
  if (j == half) return;
  const int64_t rest = half - j;
  rotate(LoadFirst(x + j, rest), LoadFirst(x + half + j, rest), LoadFirst(angles + j, rest),
         LoadFirst(angles + half + j, rest), &first, &second);
  StoreFirst(first, out + j, rest);
  StoreFirst(second, out + half + j, rest);
}

}  // namespace

template <>
Status Run(Runner& r, const ops::RotaryAngles& op) {
  const Block out = r.View(op.out);
  ops::FillAngles(op, r.at(op.positions), static_cast<int32_t>(out.cols), out.data, out.stride);
  return OkStatus();
}

template <>
Status Run(Runner& r, const ops::Rotate& op) {
  const Block x = r.View(op.x), angles = r.View(op.angles), out = r.View(op.out);
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      for (int64_t head = 0; head < x.cols; head += angles.cols) {
        RotateHead(x.row(row) + head, angles.row(row), angles.cols / 2, out.row(row) + head);
      }
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
