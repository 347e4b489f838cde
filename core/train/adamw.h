// AdamW (Loshchilov and Hutter, 2019) over the trained masters, as in transformers' Trainer.
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
  float weight_decay = 0.01f;  // biases and norms are exempt
  float clip = 1;              // limit of the gradients' global norm; 0 means no limit
  float warmup = 0.1f;  // the fraction of steps in which the rate rises; afterwards it falls to zero, both linearly
  // factor of the rate from each layer to the one below (ELECTRA and ConvBERT: 0.8 small, 0.9 base)
  float layer_decay = 1;
  int64_t steps = 1;
};

// The rate of step number `step`, counted from 0 (get_linear_schedule_with_warmup).
double ScheduledRate(const AdamWOptions& options, int64_t warmup_steps, int64_t step);

class AdamW {
 public:
  // Trains the trainable ones of `masters`. Both arguments outlive this.
  AdamW(Masters& masters, const AdamWOptions& options);
  Status Allocate();

  // Takes a step with the masters' gradients and returns their norm before clipping. If it is NaN or infinite, nothing changes.
  double Update();
  double Norm() const;
  // The same, clipped by a given norm, for example that of several models.
  void Update(double norm);
  double last_rate() const { return last_rate_; }
  int64_t bytes() const { return static_cast<int64_t>((moments_.values().size()) * sizeof(float)); }

 private:
  Masters& masters_;
  const AdamWOptions options_;
  int64_t warmup_steps_;
  std::vector<double> factors_;          // factors of the rate, by master
  FloatBuffer moments_;                  // for each trained master its first moment, then its second
  mutable std::vector<double> squares_;  // by piece of a master
  int64_t done_ = 0;
  double last_rate_ = 0;
};

}  // namespace peruse::train
