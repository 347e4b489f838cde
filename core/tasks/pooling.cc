#include "core/tasks/pooling.h"

#include <algorithm>
#include <cmath>

#include "core/base/status.h"
#include "core/cpu/activations.h"
#include "core/cpu/dot.h"

namespace peruse {
namespace {

// Adds to `out` the sum of weight(token) * vector over tokens, divided by `divisor`.
template <typename Weight>
void AddWeighted(std::span<const float> tokens, size_t width, Weight weight, double divisor, std::vector<float>* out) {
  const size_t count = tokens.size() / width;
  for (size_t c = 0; c < width; ++c) {
    double sum = 0;
    for (size_t t = 0; t < count; ++t) sum += weight(t) * static_cast<double>(tokens[t * width + c]);
    out->push_back(static_cast<float>(sum / divisor));
  }
}

void AddPooled(PoolingMode mode, std::span<const float> tokens, size_t width, size_t before, std::vector<float>* out) {
  const size_t count = tokens.size() / width;
  const auto n = static_cast<double>(count);
  const auto m = static_cast<double>(before);
  const auto one = [](size_t) { return 1.0; };
  switch (mode) {
    case PoolingMode::kCls:
      out->insert(out->end(), tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(width));
      return;
    case PoolingMode::kLastToken:
      out->insert(out->end(), tokens.end() - static_cast<std::ptrdiff_t>(width), tokens.end());
      return;
    case PoolingMode::kMax:
      for (size_t c = 0; c < width; ++c) {
        float largest = tokens[c];
        for (size_t t = 1; t < count; ++t) largest = std::max(largest, tokens[t * width + c]);
        out->push_back(largest);
      }
      return;
    case PoolingMode::kMean:
      AddWeighted(tokens, width, one, n, out);
      return;
    case PoolingMode::kMeanSqrtLength:
      AddWeighted(tokens, width, one, std::sqrt(n), out);
      return;
    case PoolingMode::kWeightedMean:  // the weight is the token's position in the whole text, from 1
      AddWeighted(
          tokens, width, [m](size_t t) { return m + 1 + static_cast<double>(t); }, n * m + n * (n + 1) / 2, out);
      return;
  }
}

}  // namespace

std::vector<float> PoolTokens(std::span<const PoolingMode> modes, std::span<const float> tokens, size_t width,
                              size_t skip) {
  PERUSE_CHECK(tokens.size() > skip * width && tokens.size() % width == 0);
  std::vector<float> pooled;
  pooled.reserve(modes.size() * width);
  for (const PoolingMode mode : modes) AddPooled(mode, tokens.subspan(skip * width), width, skip, &pooled);
  return pooled;
}

std::vector<float> ApplyDense(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                              Activation activation) {
  PERUSE_CHECK(!x.empty() && weight.size() % x.size() == 0);
  PERUSE_CHECK(bias.empty() || bias.size() == weight.size() / x.size());
  std::vector<float> y(weight.size() / x.size());
  for (size_t r = 0; r < y.size(); ++r) {
    y[r] = cpu::Dot(&weight[r * x.size()], x.data(), std::ssize(x)) + (bias.empty() ? 0 : bias[r]);
  }
  cpu::ActivateRow(y.data(), std::ssize(y), activation, y.data());
  return y;
}

// In doubles, so that lengths are 1 to the last bit of a float: equal texts must not have less similarity than different ones.
void NormalizeVector(std::span<float> x) {
  constexpr double kSmallestLength = 1e-12;
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * static_cast<double>(value);
  const double length = std::max(std::sqrt(squares), kSmallestLength);
  for (float& value : x) value = static_cast<float>(static_cast<double>(value) / length);
}

}  // namespace peruse
