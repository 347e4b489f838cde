#include "core/train/recipes/adamw.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/simd.h"

namespace peruse::train {
namespace {

using simd::Floats;
namespace hn = simd::hn;

constexpr int64_t kPiece = 1 << 16;

// Returns the sum of squares: of floats over short runs, then of doubles over the sums of runs.
double Squares(const float* x, int64_t count) {
  constexpr int64_t kRun = 4096;
  double sum = 0;
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t end = std::min(count, first + kRun);
    Floats squares = hn::Zero(simd::kTag);
    int64_t i = first;
    for (; i + simd::kLanes <= end; i += simd::kLanes)
      squares = simd::Madd(simd::Load(x + i), simd::Load(x + i), squares);
    for (; i < end; ++i) sum += double{x[i]} * double{x[i]};
    sum += double{hn::ReduceSum(simd::kTag, squares)};
  }
  return sum;
}

struct Change {
  float scale;  // factor that clips the gradient
  float beta1, beta2;
  float keep, pace, inverse_root, epsilon;

  void Apply(const float* gradient, float* first, float* second, float* values) const {
    const auto set = [](float value) { return simd::Set(value); };
    const Floats g = hn::Mul(simd::Load(gradient), set(scale));
    const Floats mean = simd::Madd(simd::Load(first), set(beta1), hn::Mul(g, set(1 - beta1)));
    const Floats square = simd::Madd(simd::Load(second), set(beta2), hn::Mul(hn::Mul(g, g), set(1 - beta2)));
    const Floats root = simd::Madd(hn::Sqrt(square), set(inverse_root), set(epsilon));
    const Floats step = hn::Div(hn::Mul(mean, set(pace)), root);
    simd::Store(mean, first);
    simd::Store(square, second);
    simd::Store(hn::Sub(hn::Mul(simd::Load(values), set(keep)), step), values);
  }
  void ApplyOne(float gradient, float* first, float* second, float* value) const {
    const float g = gradient * scale;
    *first = beta1 * *first + (1 - beta1) * g;
    *second = beta2 * *second + (1 - beta2) * g * g;
    *value = *value * keep - pace * *first / (std::sqrt(*second) * inverse_root + epsilon);
  }
};

}  // namespace

double ScheduledRate(const AdamWOptions& options, int64_t warmup_steps, int64_t step) {
  if (step < warmup_steps)
    return double{options.learning_rate} * static_cast<double>(step) / static_cast<double>(warmup_steps);
  const auto left = static_cast<double>(std::max<int64_t>(0, options.steps - step));
  return double{options.learning_rate} * left / static_cast<double>(std::max<int64_t>(1, options.steps - warmup_steps));
}

// Computes in double: 0.1f is slightly more than a tenth, so that 0.1f of 30 steps would be rounded up from 3 to 4 warm-up steps.
AdamW::AdamW(WeightTensors& weight_tensors, Workers& workers, const AdamWOptions& options)
    : weight_tensors_(weight_tensors),
      workers_(workers),
      options_(options),
      warmup_steps_(
          static_cast<int64_t>(std::ceil(double{options.warmup} * static_cast<double>(options.steps) - 1e-4))) {
  int32_t layers = 0;
  for (const WeightTensor& weight_tensor : weight_tensors.tensors())
    layers = std::max(layers, LayerNumber(weight_tensor.name).value_or(-1) + 1);
  for (const WeightTensor& weight_tensor : weight_tensors.tensors()) {
    // The depth of a tensor is 0 in the head, and grows towards the embeddings.
    const int32_t depth = !weight_tensor.head.empty() ? 0 : layers - LayerNumber(weight_tensor.name).value_or(-1);
    factors_.push_back(std::pow(double{options.layer_decay}, depth));
  }
}

Status AdamW::Allocate() {
  int64_t size = 0, largest = 0;
  for (const WeightTensor& weight_tensor : weight_tensors_.tensors()) {
    size += weight_tensor.updates() ? 2 * weight_tensor.size : 0;
    largest = std::max(largest, weight_tensor.size);
  }
  squares_.resize(static_cast<size_t>(largest / kPiece + 1));
  PERUSE_RETURN_IF_ERROR(moments_.Resize(static_cast<size_t>(size)));
  std::fill(moments_.values().begin(), moments_.values().end(), 0.0f);
  return OkStatus();
}

double AdamW::Norm() const {
  double squares = 0;
  for (const WeightTensor& weight_tensor : weight_tensors_.tensors()) {
    if (!weight_tensor.updates()) continue;
    const int64_t pieces = (weight_tensor.size + kPiece - 1) / kPiece;
    workers_.ForPieces(pieces, 1, kPiece, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        squares_[static_cast<size_t>(i)] =
            Squares(weight_tensor.gradient + i * kPiece, std::min(kPiece, weight_tensor.size - i * kPiece));
      }
    });
    for (int64_t i = 0; i < pieces; ++i) squares += squares_[static_cast<size_t>(i)];
  }
  return std::sqrt(squares);
}

double AdamW::Update() {
  const double norm = Norm();
  if (std::isfinite(norm)) Update(norm);
  return norm;
}

void AdamW::Update(double norm) {
  last_rate_ = ScheduledRate(options_, warmup_steps_, done_);
  ++done_;
  const double clip = double{options_.clip};
  const auto scale = static_cast<float>(clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1.0);
  const auto beta1 = options_.beta1, beta2 = options_.beta2;
  const double correction1 = 1 - std::pow(double{beta1}, static_cast<double>(done_));
  const double correction2 = 1 - std::pow(double{beta2}, static_cast<double>(done_));
  const auto inverse_root = static_cast<float>(1 / std::sqrt(correction2));
  float* moments = moments_.values().data();
  for (size_t number = 0; number < weight_tensors_.tensors().size(); ++number) {
    const WeightTensor& weight_tensor = weight_tensors_.tensors()[number];
    if (!weight_tensor.updates()) continue;
    float* const first = moments;
    float* const second = moments + weight_tensor.size;
    moments += 2 * weight_tensor.size;
    const double rate = last_rate_ * factors_[number];
    const auto keep = static_cast<float>(1 - (weight_tensor.decays() ? rate * double{options_.weight_decay} : 0));
    const auto pace = static_cast<float>(rate / correction1);
    const Change change = {scale, beta1, beta2, keep, pace, inverse_root, options_.epsilon};
    workers_.ForPieces(weight_tensor.size, simd::kLanes, 4, [&](int64_t i, int64_t end) {
      for (; i + simd::kLanes <= end; i += simd::kLanes) {
        change.Apply(weight_tensor.gradient + i, first + i, second + i, weight_tensor.values + i);
      }
      for (; i < end; ++i) change.ApplyOne(weight_tensor.gradient[i], first + i, second + i, weight_tensor.values + i);
    });
  }
}

}  // namespace peruse::train
