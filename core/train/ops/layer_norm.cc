#include "core/cpu/norms.h"
#include "core/cpu/simd.h"
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

using namespace simd;
using cpu::InverseRms;
using cpu::Moments;
using cpu::MomentsOf;

// Returns the sum of f(i) over the vectors that start at i, in an order that only depends on the width; the last vector may be partial.
template <typename Function>
float Sum(int64_t width, Function f) {
  Floats sums = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) sums = hn::Add(sums, f(i, kLanes));
  if (i < width) sums = hn::Add(sums, f(i, width - i));
  return hn::ReduceSum(kTag, sums);
}
Floats LoadPart(const float* p, int64_t count) { return count == kLanes ? Load(p) : LoadFirst(p, count); }
void StorePart(Floats v, float* p, int64_t count) { count == kLanes ? Store(v, p) : StoreFirst(v, p, count); }

}  // namespace

template <>
void Forward(const ops::LayerNorm& op, Tape& t) {
  PERUSE_CHECK(!op.residual.valid());
  const Block x = t.value(op.x), out = t.value(op.out);
  const cpu::NormWeights norm = {t.value(op.norm.weight).data,
                                 op.norm.bias.valid() ? t.value(op.norm.bias).data : nullptr, op.norm.eps};
  t.workers().ForPieces(x.rows, 1, 4 * x.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) cpu::AddNormRow(x.row(r), nullptr, x.cols, norm, out.row(r));
  });
}

template <>
void Backward(const ops::LayerNorm& op, Tape& t) {
  const Block x = t.value(op.x), out = t.gradient(op.out);
  const float* weight = t.value(op.norm.weight).data;
  const int64_t width = x.cols;
  bool add = false;
  const Block to = t.wants(op.x) ? t.Destination(op.x, &add) : Block();
  auto* const moments = reinterpret_cast<Moments*>(t.scratch());  // one per row
  t.workers().ForPieces(x.rows, 1, 8 * width, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      const float* in = x.row(r);
      const float* from = out.row(r);
      const Moments m = moments[r] = MomentsOf(in, width, op.norm.eps);
      if (!to) continue;
      const Floats mean = Set(m.mean), inverse = Set(m.inverse);
      const auto normed = [&](int64_t i, int64_t n) { return hn::Mul(hn::Sub(LoadPart(in + i, n), mean), inverse); };
      const auto weighted = [&](int64_t i, int64_t n) {
        return hn::Mul(LoadPart(from + i, n), LoadPart(weight + i, n));
      };
      const float scale = 1 / static_cast<float>(width);
      const Floats mean_gradient = Set(scale * Sum(width, weighted));
      const Floats mean_product =
          Set(scale * Sum(width, [&](int64_t i, int64_t n) { return hn::Mul(weighted(i, n), normed(i, n)); }));
      for (int64_t i = 0; i < width; i += kLanes) {
        const int64_t n = std::min(kLanes, width - i);
        const Floats centred = hn::Sub(hn::Sub(weighted(i, n), mean_gradient), hn::Mul(normed(i, n), mean_product));
        float* sum = to.row(r) + i;
        StorePart(add ? Madd(centred, inverse, LoadPart(sum, n)) : hn::Mul(centred, inverse), sum, n);
      }
    }
  });
  float* const weight_sum = t.wants(op.norm.weight) ? t.Accumulator(op.norm.weight).data : nullptr;
  float* const bias_sum = op.norm.bias.valid() && t.wants(op.norm.bias) ? t.Accumulator(op.norm.bias).data : nullptr;
  if (weight_sum == nullptr && bias_sum == nullptr) return;
  t.workers().ForPieces(width, 4 * kLanes, 2 * x.rows, [&](int64_t first, int64_t end) {
    for (int64_t r = 0; r < x.rows; ++r) {
      const Floats mean = Set(moments[r].mean), inverse = Set(moments[r].inverse);
      for (int64_t i = first; i < end; i += kLanes) {
        const int64_t n = std::min(kLanes, end - i);
        const Floats gradient = LoadPart(out.row(r) + i, n);
        if (weight_sum != nullptr) {
          const Floats normed = hn::Mul(hn::Sub(LoadPart(x.row(r) + i, n), mean), inverse);
          StorePart(Madd(gradient, normed, LoadPart(weight_sum + i, n)), weight_sum + i, n);
        }
        if (bias_sum != nullptr) StorePart(hn::Add(gradient, LoadPart(bias_sum + i, n)), bias_sum + i, n);
      }
    }
  });
}

template <>
void Forward(const ops::RmsNorm& op, Tape& t) {
  const Block x = t.value(op.x), out = t.value(op.out), weight = t.value(op.weight);
  t.workers().ForPieces(x.rows, 1, 4 * x.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      for (int64_t block = 0; block < x.cols; block += weight.cols) {
        cpu::RmsNormRow(x.row(r) + block, weight.data, op.offset, op.eps, weight.cols, out.row(r) + block);
      }
    }
  });
}

template <>
void Backward(const ops::RmsNorm& op, Tape& t) {
  const Block x = t.value(op.x), out = t.gradient(op.out), weight = t.value(op.weight);
  const int64_t width = weight.cols, blocks = x.cols / width;
  const Floats offset = Set(op.offset);
  bool add = false;
  const Block to = t.wants(op.x) ? t.Destination(op.x, &add) : Block();
  float* const inverses = t.scratch();  // one per block
  t.workers().ForPieces(x.rows, 1, 8 * x.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      for (int64_t b = 0; b < blocks; ++b) {
        const float *in = x.row(r) + b * width, *from = out.row(r) + b * width;
        const Floats inverse = Set(inverses[r * blocks + b] = InverseRms(in, width, op.eps));
        if (!to) continue;
        const auto weighted = [&](int64_t i, int64_t n) {
          return hn::Mul(LoadPart(from + i, n), hn::Add(LoadPart(weight.data + i, n), offset));
        };
        const auto normed = [&](int64_t i, int64_t n) { return hn::Mul(LoadPart(in + i, n), inverse); };
        const float product = Sum(width, [&](int64_t i, int64_t n) { return hn::Mul(weighted(i, n), normed(i, n)); });
        const Floats mean = Set(product / static_cast<float>(width));
        for (int64_t i = 0; i < width; i += kLanes) {
          const int64_t n = std::min(kLanes, width - i);
          const Floats centred = hn::Sub(weighted(i, n), hn::Mul(normed(i, n), mean));
          float* sum = to.row(r) + b * width + i;
          StorePart(add ? Madd(centred, inverse, LoadPart(sum, n)) : hn::Mul(centred, inverse), sum, n);
        }
      }
    }
  });
  if (!t.wants(op.weight)) return;
  float* const sums = t.Accumulator(op.weight).data;
  t.workers().ForPieces(width, 4 * kLanes, 2 * x.rows * blocks, [&](int64_t first, int64_t end) {
    for (int64_t k = 0; k < x.rows * blocks; ++k) {
      const int64_t column = k % blocks * width;
      const float *in = x.row(k / blocks) + column, *from = out.row(k / blocks) + column;
      const Floats inverse = Set(inverses[k]);
      for (int64_t i = first; i < end; i += kLanes) {
        const int64_t n = std::min(kLanes, end - i);
        const Floats normed = hn::Mul(LoadPart(in + i, n), inverse);
        StorePart(Madd(LoadPart(from + i, n), normed, LoadPart(sums + i, n)), sums + i, n);
      }
    }
  });
}

}  // namespace peruse::train
