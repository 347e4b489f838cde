#include "core/cpu/dot.h"

#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

using DoubleTag = hn::ScalableTag<double>;
using Doubles = hn::Vec<DoubleTag>;

Floats AddProduct(const float* a, const float* b, Floats sum) { return Madd(Load(a), Load(b), sum); }
Doubles AddProduct(const double* a, const double* b, Doubles sum) {
  return hn::MulAdd(hn::LoadU(DoubleTag(), a), hn::LoadU(DoubleTag(), b), sum);
}

// Four sums, because a multiply-add takes four cycles.
template <typename Tag>
hn::TFromD<Tag> DotOf(Tag tag, const hn::TFromD<Tag>* a, const hn::TFromD<Tag>* b, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  auto sum0 = hn::Zero(tag), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    sum0 = AddProduct(a + i, b + i, sum0);
    sum1 = AddProduct(a + i + lanes, b + i + lanes, sum1);
    sum2 = AddProduct(a + i + 2 * lanes, b + i + 2 * lanes, sum2);
    sum3 = AddProduct(a + i + 3 * lanes, b + i + 3 * lanes, sum3);
  }
  for (; i + lanes <= count; i += lanes) sum0 = AddProduct(a + i, b + i, sum0);
  auto sum = hn::ReduceSum(tag, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

float Dot(const float* a, const float* b, int64_t count) { return DotOf(kTag, a, b, count); }
double Dot(const double* a, const double* b, int64_t count) { return DotOf(DoubleTag(), a, b, count); }

}  // namespace peruse::cpu
