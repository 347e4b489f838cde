#include "core/cpu/rotary.h"

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

void RotateRow(const float* x, int64_t width, const float* angles, int64_t head_dim, float* out) {
  for (int64_t head = 0; head < width; head += head_dim) RotateHead(x + head, angles, head_dim / 2, out + head);
}

}  // namespace peruse::cpu
