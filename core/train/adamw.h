// AdamW (Loshchilov and Hutter, 2019) over the masters that are trained, as transformers' Trainer runs it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/train/masters.h"

namespace peruse::train {

struct AdamWOptions {
  float learning_rate = 5e-5f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0.01f;  // not of biases and norms
  float clip = 1;              // of the gradients' norm over all tensors; 0: none
  float warmup = 0.1f;    // the fraction of the steps in which the rate rises; then it falls to zero, both linearly
  float layer_decay = 1;  // of the rate from each layer to the one below (ELECTRA and ConvBERT: 0.8 small, 0.9 base)
  int64_t steps = 1;
};

// Of step number `step`, from 0 (get_linear_schedule_with_warmup).
double ScheduledRate(const AdamWOptions& options, int64_t warmup_steps, int64_t step);

class AdamW {
 public:
  // Of the masters that are trained. Both outlive this.
  AdamW(Masters& masters, const AdamWOptions& options);
  Status Allocate();

  // A step by the masters' gradients. Gives their norm before clipping; NaN or infinite: nothing was changed.
  double Update();
  double Norm() const;
  // The same, clipped as if the norm were this: that of several models.
  void Update(double norm);
  double last_rate() const { return last_rate_; }
  int64_t bytes() const { return static_cast<int64_t>((moments_.values().size()) * sizeof(float)); }

 private:
  Masters& masters_;
  const AdamWOptions options_;
  int64_t warmup_steps_;
  std::vector<double> factors_;          // of the rate, by master
  FloatBuffer moments_;                  // for each trained master its first, then its second
  mutable std::vector<double> squares_;  // of a master's pieces
  int64_t done_ = 0;
  double last_rate_ = 0;
};

}  // namespace peruse::train
