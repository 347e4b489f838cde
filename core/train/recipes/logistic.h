// Logistic regression on fixed features. It is convex, so the result does not depend on initial values or learning rates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/train/memory/workers.h"

namespace peruse::train {

// Features [rows, width] and targets [rows, labels]. Targets are probabilities (one of them 1 for a hard label) times the row's weight.
struct LogisticData {
  std::span<const float> features;
  std::span<const float> targets;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t labels = 0;
  bool sigmoid = false;  // one sigmoid per label instead of a softmax
  double factor = 1;     // without folds: multiplies the minimum
};

struct LogisticFit {
  std::vector<float> weight;    // [labels, width]
  std::vector<float> bias;      // [labels]
  double l2 = 0;                // chosen by cross-validation; applies to unscaled features
  double factor = 1;            // the minimum is multiplied by it, so that probabilities suit held-out rows
  double loss = 0;              // mean cross-entropy on the data
  double held_out_loss = 0;     // mean cross-entropy if each row is scored by the fit without its fold
  std::vector<float> held_out;  // [rows, labels]: logits of each row by the fit without its fold, times the factor
};

// Minimises the mean over rows of - sum_k t_k log p_k + l2 / 2 |weight|^2 by L-BFGS (Liu and Nocedal, 1989), then multiplies
// weights and biases by a factor (temperature scaling). Chooses l2, from a grid that is relative to the features' mean variance, and the factor
// for the least held-out loss. Without the factor l2 would be too weak, because a strong one gives low probabilities. `folds` has the fold of
// each row (FoldsOf in folds.h). Without folds, which is for features that were trained with these targets, l2 is 1 and the factor is that of `data`.
LogisticFit FitLogistic(const LogisticData& data, std::span<const int32_t> folds, int32_t fold_count,
                        const Workers& workers);

}  // namespace peruse::train
