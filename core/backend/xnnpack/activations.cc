#include "core/backend/xnnpack/activations.h"

#include <cstring>

#include "core/backend/xnnpack/simd.h"
#include "hwy/contrib/math/math-inl.h"

namespace peruse::xnnpack {
namespace {

using namespace simd;  // NOLINT: this file is vector code throughout

inline Floats Sigmoid(Floats x) { return hn::Div(Set(1.0f), hn::Add(Set(1.0f), Exp(hn::Neg(x)))); }

// max(x, 0) - |x| / 2 erfc(|x| / sqrt 2), which is x Phi(x) without its cancellation for negative x. log2 of the
// erfc is nearly a parabola: a polynomial of degree 8 leaves 1.3e-8 of absolute error in the result. Past |x| = 8
// the second term is below 1e-14.
inline Floats Gelu(Floats x) {
  const Floats a = AtMost(8.0f, hn::Abs(x));
  Floats p = Madd(a, Set(-1.4879732361805509e-06f), Set(2.307261456735432e-05f));
  p = Madd(p, a, Set(-0.00010751467198133469f));
  p = Madd(p, a, Set(-0.00033113936660811305f));
  p = Madd(p, a, Set(0.007325115613639355f));
  p = Madd(p, a, Set(-0.05268554389476776f));
  p = Madd(p, a, Set(-0.4591415822505951f));
  p = Madd(p, a, Set(-1.151113748550415f));
  const Floats erfc = Exp2(hn::Mul(p, a));
  return hn::Sub(AtLeast(0.0f, x), hn::Mul(hn::Mul(a, Set(0.5f)), erfc));
}

// 0.5 x (1 + tanh(u)) = x sigmoid(2u), u = k x (1 + 0.044715 x^2).
inline Floats GeluTanh(Floats x, float k) {
  const Floats u = hn::Mul(hn::Mul(x, Set(2 * k)), Madd(hn::Mul(x, x), Set(0.044715f), Set(1.0f)));
  return hn::Mul(x, Sigmoid(u));
}

// x tanh(ln(1 + e^x)) = x m / (m + 2) with m = e^x (e^x + 2); for x > 20 the quotient is 1 in float32.
inline Floats Mish(Floats x) {
  const Floats e = Exp(AtMost(20.0f, x));
  const Floats m = hn::Mul(e, hn::Add(e, Set(2.0f)));
  return hn::Mul(x, hn::Div(m, hn::Add(m, Set(2.0f))));
}

}  // namespace

void ActivateRow(const float* x, int64_t count, Activation activation, float* out) {
  switch (activation) {
    case Activation::kNone:
      if (x != out) std::memcpy(out, x, static_cast<size_t>(count) * sizeof(float));
      return;
    case Activation::kGelu:
      return Map(x, out, count, [](Floats v) { return Gelu(v); });
    case Activation::kGeluTanh:
      return Map(x, out, count, [](Floats v) { return GeluTanh(v, 0.7978845608028654f); });
    case Activation::kGeluFast:
      return Map(x, out, count, [](Floats v) { return GeluTanh(v, 0.7978845608f); });
    case Activation::kGeluClipped:
      return Map(x, out, count, [](Floats v) { return AtMost(10.0f, AtLeast(-10.0f, Gelu(v))); });
    case Activation::kQuickGelu:
      return Map(x, out, count, [](Floats v) { return hn::Mul(v, Sigmoid(hn::Mul(v, Set(1.702f)))); });
    case Activation::kRelu:
      return Map(x, out, count, [](Floats v) { return AtLeast(0.0f, v); });
    case Activation::kRelu6:
      return Map(x, out, count, [](Floats v) { return AtMost(6.0f, AtLeast(0.0f, v)); });
    case Activation::kSilu:
      return Map(x, out, count, [](Floats v) { return hn::Mul(v, Sigmoid(v)); });
    case Activation::kMish:
      return Map(x, out, count, [](Floats v) { return Mish(v); });
    case Activation::kTanh:
      return Map(x, out, count, [](Floats v) { return hn::Tanh(kTag, v); });
    case Activation::kSigmoid:
      return Map(x, out, count, [](Floats v) { return Sigmoid(v); });
  }
}

}  // namespace peruse::xnnpack
