#include "core/tasks/sparse_coder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/tasks/module_weights.h"
#include "core/tasks/pooling.h"

namespace peruse {
namespace {

constexpr double kEpsilon = 1e-5;

// Subtracts the mean and divides by the standard deviation, of which the sum of squares is divided by one less than the count.
void Standardise(std::vector<float>& x) {
  const auto count = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  double squares = 0;
  for (const float value : x) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1)) + kEpsilon;
  for (float& value : x) value = static_cast<float>((value - mean) / deviation);
}

}  // namespace

Result<std::unique_ptr<SparseCoder>> SparseCoder::Create(const ReadModelFile& read, const SparseCoding& coding) {
  std::unique_ptr<SparseCoder> coder(new SparseCoder(coding));
  PERUSE_RETURN_IF_ERROR(
      ReadModuleWeights(read, coding.folder,
                        {{"pre_bias", {coding.in}, &coder->pre_bias_},
                         {"decoder.linear.weight", {coding.out, coding.in}, &coder->weight_, "encoder.weight"},
                         {"latent_bias", {coding.out}, &coder->latent_bias_}}));
  return coder;
}

std::vector<float> SparseCoder::Encode(std::vector<float> vector, std::optional<int32_t> most) const {
  if (coding_.normalizes) Standardise(vector);
  for (size_t i = 0; i < vector.size(); ++i) vector[i] -= pre_bias_[i];
  std::vector<float> latents = ApplyDense(vector, weight_, latent_bias_, Activation::kNone);
  std::vector<size_t> order(latents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t kept = std::min(order.size(), static_cast<size_t>(most.value_or(coding_.active)));
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(order.begin(), end, order.end(),
                    [&](size_t a, size_t b) { return latents[a] != latents[b] ? latents[a] > latents[b] : a < b; });
  std::vector<float> result(latents.size());
  for (auto at = order.begin(); at != end; ++at) result[*at] = std::max(latents[*at], 0.0f);
  return result;
}

}  // namespace peruse
