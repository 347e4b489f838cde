#pragma once

#include <cstdint>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/train/memory/weight_tensors.h"
#include "core/train/memory/workers.h"

namespace peruse::train {

struct AdamWOptions {
  float learning_rate = 5e-5f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0.01f;  // biases and norms do not decay
  float clip = 1;              // limit of the norm of all gradients together; 0 disables clipping
  // Fraction of the steps in which the learning rate rises linearly; afterwards it falls linearly to zero.
  float warmup = 0.1f;
  // Factor of the learning rate from each layer to the layer below (0.8 for small, 0.9 for base ELECTRA and ConvBERT).
  float layer_decay = 1;
  int64_t steps = 1;
};

// Returns the learning rate of step `step`, counted from 0 (transformers' get_linear_schedule_with_warmup).
double ScheduledRate(const AdamWOptions& options, int64_t warmup_steps, int64_t step);

class AdamW {
 public:
  // AdamW (Loshchilov and Hutter, 2019) as in transformers' Trainer. Updates the trained tensors of `weight_tensors`, which must outlive it,
  // as must `workers`.
  AdamW(WeightTensors& weight_tensors, Workers& workers, const AdamWOptions& options);
  Status Allocate();

  // Updates the tensors by their gradients. Returns the norm of all gradients before clipping; if it is NaN or infinite, changes nothing.
  double Update();
  double Norm() const;
  // Like Update(), but clips by a given norm, for example the joint norm of several models.
  void Update(double norm);
  double last_rate() const { return last_rate_; }
  int64_t bytes() const { return static_cast<int64_t>((moments_.values().size()) * sizeof(float)); }

 private:
  WeightTensors& weight_tensors_;
  Workers& workers_;
  const AdamWOptions options_;
  int64_t warmup_steps_;
  std::vector<double> factors_;          // for each tensor: factor of the learning rate
  FloatBuffer moments_;                  // for each trained tensor: its first moments, then its second moments
  mutable std::vector<double> squares_;  // sums of squares of pieces of the tensors, which Norm adds
  int64_t done_ = 0;
  double last_rate_ = 0;
};

}  // namespace peruse::train
