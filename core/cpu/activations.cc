#include "core/cpu/activations.h"

#include <algorithm>
#include <cstring>

#include "core/cpu/simd.h"
#include "hwy/contrib/math/math-inl.h"

namespace peruse::cpu {

simd::ConstantVectors<17> gelu_constants({8.0f, 0.5f,
                                          // Coefficients of log2(erfc(a / sqrt 2)) / a, for the powers 0 to 7 of a.
                                          -1.151113748550415f, -0.4591415822505951f, -0.05268554389476776f,
                                          0.007325115613639355f, -0.00033113936660811305f, -0.00010751467198133469f,
                                          2.307261456735432e-05f, -1.4879732361805509e-06f,
                                          // Coefficients of e^r as in Exp, for the powers 0 (and 1) to 6 of r.
                                          1.0f, 0.49999991059303284f, 0.16666410863399506f, 0.04166828840970993f,
                                          0.00837564468383789f, 0.0013835792196914554f, 0.693147181f});

namespace {

using namespace simd;

inline Floats Sigmoid(Floats x) { return hn::Div(Set(1.0f), hn::Add(Set(1.0f), Exp(hn::Neg(x)))); }

// erfc(a / sqrt 2) for a in [0, 8]. Its log2 is nearly a parabola: a polynomial of degree 8 has an absolute error of 1.3e-8 in Gelu.
// Estrin's scheme evaluates both polynomials, because Horner's is one long chain of dependent steps.
inline Floats Erfc(Floats a) {
  const auto constant = [](int i) { return gelu_constants[i]; };
  const auto pair = [&](Floats v, int i) { return Madd(v, constant(i + 1), constant(i)); };
  const Floats a2 = hn::Mul(a, a);
  const Floats low = Madd(pair(a, 4), a2, pair(a, 2));
  const Floats high = Madd(pair(a, 8), a2, pair(a, 6));
  const Floats log2 = hn::Mul(Madd(high, hn::Mul(a2, a2), low), a);
  const Floats shift = Set(kExponentShift);
  const Floats shifted = hn::Add(log2, shift);
  const Floats r = hn::Mul(hn::Sub(log2, hn::Sub(shifted, shift)), constant(16));
  const Floats r2 = hn::Mul(r, r);
  const Floats start = Madd(pair(r, 11), r2, hn::Add(r, constant(10)));
  const Floats end = Madd(r2, constant(15), pair(r, 13));
  const hn::RebindToUnsigned<FloatTag> bits;
  const Floats power = hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  return hn::Mul(Madd(end, hn::Mul(r2, r2), start), power);
}

// max(x, 0) - |x| / 2 erfc(|x| / sqrt 2): x Phi(x) without cancellation for negative x. The second term is below 1e-14 beyond |x| = 8.
inline Floats Gelu(Floats x) {
  const Floats a = hn::Min(gelu_constants[0], hn::Abs(x));
  return hn::Sub(AtLeast(0.0f, x), hn::Mul(hn::Mul(a, gelu_constants[1]), Erfc(a)));
}

// The activation "laplace": Phi((x - 0.707107) / 0.282095), with Phi the normal distribution function, which is erfc / 2 for negative
// arguments.
inline Floats Laplace(Floats x) {
  const Floats z = hn::Mul(hn::Sub(x, Set(0.707107f)), Set(1 / 0.282095f));
  const Floats tail = hn::Mul(gelu_constants[1], Erfc(hn::Min(gelu_constants[0], hn::Abs(z))));
  return hn::IfThenElse(hn::Lt(z, hn::Zero(kTag)), tail, hn::Sub(Set(1.0f), tail));
}

// GELU by tanh: 0.5 x (1 + tanh(u)) = x sigmoid(2u), with u = k x (1 + 0.044715 x^2).
inline Floats GeluTanh(Floats x, float k) {
  const Floats u = hn::Mul(hn::Mul(x, Set(2 * k)), Madd(hn::Mul(x, x), Set(0.044715f), Set(1.0f)));
  return hn::Mul(x, Sigmoid(u));
}

// Mish: x tanh(ln(1 + e^x)) = x m / (m + 2) with m = e^x (e^x + 2). Beyond x = 20 the quotient is 1 in float32.
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
    case Activation::kLeakyRelu:
      return Map(x, out, count, [](Floats v) { return hn::Max(hn::Mul(v, Set(0.01f)), v); });
    case Activation::kReluSquared:
      return Map(x, out, count, [](Floats v) {
        const Floats positive = AtLeast(0.0f, v);
        return hn::Mul(positive, positive);
      });
    case Activation::kLaplace:
      return Map(x, out, count, [](Floats v) { return Laplace(v); });
    case Activation::kCappedQuickGelu:
      Map(x, out, count, [](Floats v) { return AtMost(7.0f, v); });
      return ActivateRow(out, count, Activation::kQuickGelu, out);
    case Activation::kClippedPlusOne:
      return Map(x, out, count, [](Floats v) { return hn::Add(AtMost(7.0f, AtLeast(-7.0f, v)), Set(1.0f)); });
    case Activation::kLog1pRelu:
      return Map(x, out, count, [](Floats v) { return hn::Log1p(kTag, AtLeast(0.0f, v)); });
  }
}

void SoftmaxRow(float* row, int64_t count, float scale) {
  const Floats inverse = Set(1.0f / ExpInPlace(row, count, scale));
  Map(row, row, count, [&](Floats v) { return hn::Mul(v, inverse); });
}

// One loop computes all powers, because groups are short.
void SoftmaxGroups(const float* x, int64_t groups, int64_t size, float* out) {
  for (int64_t first = 0; first < groups * size; first += size) {
    const float largest = *std::max_element(x + first, x + first + size);
    for (int64_t i = first; i < first + size; ++i) out[i] = x[i] - largest;
  }
  Map(out, out, groups * size, [](Floats v) { return Exp(v); });
  for (int64_t first = 0; first < groups * size; first += size) {
    float sum = 0;
    for (int64_t i = first; i < first + size; ++i) sum += out[i];
    for (int64_t i = first; i < first + size; ++i) out[i] /= sum;
  }
}

}  // namespace peruse::cpu
