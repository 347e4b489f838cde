#include "core/train/adamw.h"

#include <algorithm>
#include <cmath>

namespace peruse::train {

double ScheduledRate(const AdamWOptions& options, int64_t warmup_steps, int64_t step) {
  if (step < warmup_steps)
    return double{options.learning_rate} * static_cast<double>(step) / static_cast<double>(warmup_steps);
  const auto left = static_cast<double>(std::max<int64_t>(0, options.steps - step));
  return double{options.learning_rate} * left / static_cast<double>(std::max<int64_t>(1, options.steps - warmup_steps));
}

// 0.1f is a bit more than a tenth: three steps of thirty are not four.
AdamW::AdamW(Masters& masters, const AdamWOptions& options)
    : masters_(masters),
      options_(options),
      warmup_steps_(
          static_cast<int64_t>(std::ceil(double{options.warmup} * static_cast<double>(options.steps) - 1e-4))) {
  int32_t layers = 0;
  for (const Master& master : masters.tensors()) layers = std::max(layers, LayerNumber(master.name).value_or(-1) + 1);
  for (const Master& master : masters.tensors()) {
    // From the head (0) down to the embeddings.
    const int32_t depth = !master.head.empty() ? 0 : layers - LayerNumber(master.name).value_or(-1);
    factors_.push_back(std::pow(double{options.layer_decay}, depth));
  }
}

Status AdamW::Allocate() {
  int64_t size = 0;
  for (const Master& master : masters_.tensors()) size += master.updates() ? 2 * master.size : 0;
  PERUSE_RETURN_IF_ERROR(moments_.Resize(static_cast<size_t>(size)));
  std::fill(moments_.values().begin(), moments_.values().end(), 0.0f);
  return OkStatus();
}

double AdamW::Norm() const {
  double squares = 0;
  for (const Master& master : masters_.tensors()) {
    double own = 0;
    for (int64_t i = 0; master.updates() && i < master.size; ++i)
      own += double{master.gradient[i]} * double{master.gradient[i]};
    squares += own;
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
  // As clip_grad_norm_.
  const double clip = double{options_.clip};
  const auto scale = static_cast<float>(clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1.0);
  const auto beta1 = options_.beta1, beta2 = options_.beta2;
  const double correction1 = 1 - std::pow(double{beta1}, static_cast<double>(done_));
  const double correction2 = 1 - std::pow(double{beta2}, static_cast<double>(done_));
  const auto inverse_root = static_cast<float>(1 / std::sqrt(correction2));
  float* moments = moments_.values().data();
  for (size_t number = 0; number < masters_.tensors().size(); ++number) {
    const Master& master = masters_.tensors()[number];
    if (!master.updates()) continue;
    float* const first = moments;
    float* const second = moments + master.size;
    moments += 2 * master.size;
    const double rate = last_rate_ * factors_[number];
    const auto keep = static_cast<float>(1 - (master.decays() ? rate * double{options_.weight_decay} : 0));
    const auto pace = static_cast<float>(rate / correction1);
    const float epsilon = options_.epsilon;
    float* const values = master.values;
    const float* const gradient = master.gradient;
    for (int64_t i = 0; i < master.size; ++i) {
      const float g = gradient[i] * scale;
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      values[i] = values[i] * keep - pace * first[i] / (std::sqrt(second[i]) * inverse_root + epsilon);
    }
  }
}

}  // namespace peruse::train
